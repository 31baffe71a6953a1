"""Sentence boundaries beside sentencex: the hard set of the tests, and lines of news joined.

    python benchmarks/sentence_boundaries.py --data ../shared/data/test

Four lines of news make a text. Their ends are boundaries that a splitter must find ("missed");
what it cuts elsewhere ("extra") may be a second sentence of a line or a mistake, the same for
every splitter. Needs `pip install sentencex`.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import sentencex

from sieve.files import write_json
from sieve.segment.sentences import sentences

ROOT = Path(__file__).parents[1]
GOLD = ROOT / "tests" / "segment" / "boundaries.txt"
NEWS = {
    "en": "newstest2018.en-de.en",
    "de": "newstest2018.en-de.de",
    "ru": "newstest2018.en-ru.ru",
    "fr": "ntrex128.en-fr.fr",
    "pt": "ntrex128.en-pt.pt",
}
Splitter = Callable[[str, str], list[str]]


def ends(parts: list[str]) -> set[int]:
    """Where parts end, in characters that are no spaces; the end of the text is none."""
    sizes = [len("".join(part.split())) for part in parts]
    places = {sum(sizes[: index + 1]) for index in range(len(sizes))}
    return places - {0, sum(sizes)}


def counted(splitter: Splitter, samples: list[tuple[str, list[str]]]) -> dict[str, int]:
    counts = {"boundaries": 0, "missed": 0, "extra": 0, "texts_right": 0, "texts": len(samples)}
    for language, parts in samples:
        truth, guess = ends(parts), ends(splitter(language, "".join(parts)))
        counts["boundaries"] += len(truth)
        counts["missed"] += len(truth - guess)
        counts["extra"] += len(guess - truth)
        counts["texts_right"] += truth == guess
    return counts


def hard() -> list[tuple[str, list[str]]]:
    lines = [line for line in GOLD.read_text("utf-8").splitlines() if not line.startswith("#")]
    pairs = [line.split("\t", 1) for line in lines]
    return [(language, text.split("¶")) for language, text in pairs]


def joined(path: Path, language: str) -> list[tuple[str, list[str]]]:
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    whole = [f"{line} " for line in lines if line and line[-1] in '.!?"”»“']
    return [(language, whole[at : at + 4]) for at in range(0, len(whole) - 3, 4)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "test")
    arguments = parser.parse_args()
    splitters: dict[str, Splitter] = {
        "sieve": lambda language, text: sentences(text, language),
        "sentencex": lambda language, text: list(sentencex.segment(language, text)),
    }
    sets = {"hard": hard()}
    sets |= {f"news {code}": joined(arguments.data / name, code) for code, name in NEWS.items()}
    results = {
        name: {splitter: counted(cut, samples) for splitter, cut in splitters.items()}
        for name, samples in sets.items()
    }
    command = "python benchmarks/sentence_boundaries.py --data ../shared/data/test"
    document = {"command": command, "sentencex": sentencex_version(), "sets": results}
    write_json(ROOT / "docs" / "results" / "sentence_boundaries.json", document)
    for name, rows in results.items():
        print(name, rows)


def sentencex_version() -> str:
    from importlib.metadata import version

    return version("sentencex")


if __name__ == "__main__":
    main()
