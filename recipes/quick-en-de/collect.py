"""Mixes the raw English-German corpora into one compressed pair of files that travels well.

    python recipes/quick-en-de/collect.py DATA carry/quick

DATA holds train/CORPUS.en-de.{en,de}.bz2 as its README describes. Writes mix.en.bz2 and mix.de.bz2,
about 1.5M pairs and under 62 MiB. Lines keep their order (neighbours compress well); of Europarl
every third block of a thousand lines is taken, of the dictionary every second.
"""

import bz2
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

BLOCK = 1000
# corpus: take one block out of so many
SHARES = {
    "msdocs": 1, "europarl": 3, "tatoeba": 1, "bible": 1, "ddtp": 1, "libreoffice": 1, "wesnoth": 1,
    "cataclysm-dda": 1, "freeciv": 1, "widelands": 1, "bcontrast": 1, "mlqe-pe": 1,
    "debian-installguide": 1, "ding-dictionary": 2,
}  # fmt: skip


def blocks(path: Path, share: int) -> Iterator[bytes]:
    with bz2.open(path, "rb") as lines:
        for number in itertools.count():
            block = list(itertools.islice(lines, BLOCK))
            if not block:
                return
            if number % share == 0:
                yield b"".join(block)


def main() -> None:
    data, target = Path(sys.argv[1]), Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    for language in ("en", "de"):
        pairs = 0
        with bz2.open(target / f"mix.{language}.bz2", "wb", compresslevel=9) as mix:
            for corpus, share in SHARES.items():
                for block in blocks(data / "train" / f"{corpus}.en-de.{language}.bz2", share):
                    mix.write(block)
                    pairs += block.count(b"\n")
        size = (target / f"mix.{language}.bz2").stat().st_size / 2**20
        print(f"{language}: {pairs} lines, {size:.1f} MiB")


if __name__ == "__main__":
    main()
