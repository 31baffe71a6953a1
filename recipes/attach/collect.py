"""English text for a head: lines of each of several corpora, mixed.

    python recipes/attach/collect.py DATA OUTPUT.en [--news]

DATA is a folder with `train/CORPUS.en-de.en.bz2` and `news/SET.en.bz2`. Lines of test sets do not
belong into it. `--news` adds all lines of news; a head that was made with them may not ship where
the licence of that text does not allow it.
"""

import argparse
import bz2
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

LINES = {
    "europarl": 70_000,
    "tatoeba": 60_000,
    "msdocs": 30_000,
    "wesnoth": 12_000,
    "bcontrast": 9_000,
    "cataclysm-dda": 8_000,
    "ddtp": 8_000,
    "libreoffice": 8_000,
    "mlqe-pe": 8_000,
    "bible": 4_000,
    "freeciv": 3_000,
    "debian-installguide": 2_000,
}
LENGTHS = range(3, 401)
"""Characters of a line."""


def lines_of(paths: Iterable[Path]) -> Iterator[str]:
    """Lines of fitting length."""
    for path in paths:
        with bz2.open(path, "rt", encoding="utf-8") as file:
            yield from (line.strip() for line in file if len(line.strip()) in LENGTHS)


def collected(data: Path, news: bool, seed: int = 5) -> list[str]:
    """Distinct lines in a random order."""
    rng = random.Random(seed)
    found: list[str] = []
    for corpus, number in LINES.items():
        lines = sorted({*lines_of([data / "train" / f"{corpus}.en-de.en.bz2"])})
        rng.shuffle(lines)
        found += lines[:number]
    if news:
        found += lines_of(sorted((data / "news").glob("*.en.bz2")))
    found = sorted({*found})
    rng.shuffle(found)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--news", action="store_true")
    arguments = parser.parse_args()
    lines = collected(arguments.data, arguments.news)
    arguments.output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{arguments.output}: {len(lines)} lines")


if __name__ == "__main__":
    main()
