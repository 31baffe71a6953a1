"""The idioms of this folder as files for `sieve evaluate` and `sieve adapt`.

    python recipes/idioms/split.py de OUTPUT     # or pt

Writes adapt.en and adapt.LANGUAGE, two sentences of each idiom; test.tsv, the third one, with the
columns sentence, reference, idiom and its translation as the reference has it; and unseen.tsv,
with all sentences of the idioms that `--unseen N` keeps out of adapt (every Nth; default: none).
"""

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SET = Path(__file__).with_name("idioms.tsv")
LANGUAGES = ("de", "pt")
MARKED = re.compile(r"\[(.+?)\]")


@dataclass(frozen=True)
class Sentence:
    """A sentence with an idiom, and its translation."""

    idiom: str
    """As a dictionary has it; so is the next."""
    rendering: str
    part: str
    """`adapt` or `test`."""
    source: str
    """With the idiom in brackets, as the next with its rendering."""
    reference: str

    def columns(self) -> tuple[str, str, str, str]:
        """As `sieve evaluate --idioms` reads them."""
        return (
            plain(self.source),
            plain(self.reference),
            marked(self.source),
            marked(self.reference),
        )


def plain(text: str) -> str:
    """A sentence without brackets."""
    return text.replace("[", "").replace("]", "")


def marked(text: str) -> str:
    """What is in brackets, in its order."""
    return " ".join(MARKED.findall(text))


def read(language: str, path: Path = SET) -> Iterator[Sentence]:
    """The sentences, in the order of the file."""
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    names = header.split("\t")
    last: list[str] = []
    for line in lines:
        cells = line.split("\t")
        last = [cell or above for cell, above in zip(cells[:3], last or cells, strict=False)]
        row = dict(zip(names, [*last, *cells[3:]], strict=True))
        yield Sentence(
            row["idiom"], row[f"idiom.{language}"], row["part"], row["en"], row[language]
        )


def write(language: str, folder: Path, unseen: int = 0) -> None:
    """The files of one language."""
    sentences = list(read(language))
    idioms = list(dict.fromkeys(one.idiom for one in sentences))
    apart = set(idioms[unseen - 1 :: unseen]) if unseen else set()
    adapt = [one for one in sentences if one.part == "adapt" and one.idiom not in apart]
    test = [one for one in sentences if one.part == "test" and one.idiom not in apart]
    rest = [one for one in sentences if one.idiom in apart]
    folder.mkdir(parents=True, exist_ok=True)
    _save(folder / "adapt.en", [plain(one.source) for one in adapt])
    _save(folder / f"adapt.{language}", [plain(one.reference) for one in adapt])
    for name, chosen in (("test", test), ("unseen", rest)):
        if chosen:
            _save(folder / f"{name}.tsv", ["\t".join(one.columns()) for one in chosen])


def _save(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("language", choices=LANGUAGES)
    parser.add_argument("output", type=Path)
    parser.add_argument("--unseen", type=int, default=0, metavar="N")
    args = parser.parse_args()
    write(args.language, args.output, args.unseen)


if __name__ == "__main__":
    main()
