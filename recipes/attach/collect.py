"""English text for a head: lines of all corpora, those first that have rare tokens.

    python recipes/attach/collect.py DATA MODEL OUTPUT.en [--lines 220000] [--news]

DATA is a folder with `train/CORPUS.en-XX.en.bz2` and `news/SET.en.bz2`; MODEL's tokenizer says what
is rare. Lines of test sets do not belong into it. `--news` adds all lines of news; a head that was
made with them may not ship where the licence of that text does not allow it.
"""

import argparse
import bz2
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from sieve.bundle.directory import open_bundle
from sieve.train.attach.coverage import rarest_first

MOST = {"europarl.en-de": 400_000, "msdocs.en-de": 200_000, "msdocs.en-ru": 100_000}
"""Lines looked at of the large corpora; of the others all."""
LENGTHS = range(3, 401)
"""Characters of a line."""


def lines_of(paths: Iterable[Path]) -> Iterator[str]:
    """Lines of fitting length."""
    for path in paths:
        with bz2.open(path, "rt", encoding="utf-8") as file:
            yield from (line.strip() for line in file if len(line.strip()) in LENGTHS)


def collected(data: Path, seed: int = 5) -> list[str]:
    """Distinct lines in a random order."""
    rng = random.Random(seed)
    lines: list[str] = []
    for path in sorted((data / "train").glob("*.en.bz2")):
        distinct = sorted({*lines_of([path])})
        rng.shuffle(distinct)
        lines += distinct[: MOST.get(path.name.removesuffix(".en.bz2"))]
    lines = list(dict.fromkeys(lines))
    rng.shuffle(lines)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--lines", type=int, default=220_000, help="without news")
    parser.add_argument("--news", action="store_true")
    arguments = parser.parse_args()
    lines = collected(arguments.data)
    tokenizer = open_bundle(arguments.model).tokenizers().source
    chosen = [lines[row] for row in rarest_first(lines, tokenizer)[: arguments.lines].tolist()]
    if arguments.news:
        chosen += sorted({*lines_of(sorted((arguments.data / "news").glob("*.en.bz2")))})
    arguments.output.write_text("".join(f"{line}\n" for line in chosen), encoding="utf-8")
    print(f"{arguments.output}: {len(chosen)} lines")


if __name__ == "__main__":
    main()
