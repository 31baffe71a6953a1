"""Real documents through a translator that copies: how many come back the same.

    python benchmarks/document_copies.py DIRECTORY… [--formats NAME …] [--most N]

A file is read as its name says. `same` is byte for byte; `filled` is a catalogue whose missing
translations were filled in and that is the same once read and filled again; `refused` ends in one
line. Each file also goes through a translator that changes every letter, which must not fail.
Writes docs/results/document_copies.json.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from echo import echo, swapped

from sieve.documents import guessed, translate_bytes
from sieve.errors import SieveError
from sieve.files import read_json, write_json

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "document_copies.json"
_LARGEST = 400_000
_FILLED = ("po", "xliff")


def files(directories: list[Path]) -> Iterator[Path]:
    """All files of a size that is quick to read."""
    for directory in directories:
        for path in sorted(directory.rglob("*")):
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= _LARGEST:
                yield path


def outcome(data: bytes, name: str, format: str) -> str:
    """What becomes of a document."""
    try:
        copy = translate_bytes(echo(), data, name, format)
        translate_bytes(echo(swapped), data, name, format)
    except SieveError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return "refused"
    if copy == data:
        return "same"
    if format in _FILLED and translate_bytes(echo(), copy, name, format) == copy:
        return "filled"
    return "different"


def main() -> None:
    """Prints a line for each format."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directories", nargs="+", type=Path)
    parser.add_argument("--formats", nargs="+", default=(), help="read files of these alone")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--most", type=int, default=100, help="files of each format")
    arguments = parser.parse_args()
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    for path in files(arguments.directories):
        try:
            with path.open("rb") as source:
                format = guessed(source, path.name)
        except (SieveError, OSError):
            continue
        if format is None or (arguments.formats and format.name not in arguments.formats):
            continue
        if outcomes[format.name].total() >= arguments.most:
            continue
        result = outcome(path.read_bytes(), path.name, format.name)
        outcomes[format.name][result] += 1
        if result == "different":
            print(f"{path}: different", file=sys.stderr)
    for name, counter in sorted(outcomes.items()):
        print(name, *(f"{result} {number}" for result, number in counter.most_common()))
    content = read_json(arguments.output) if arguments.output.exists() else {"formats": {}}
    content["command"] = "python benchmarks/document_copies.py DIRECTORY…"
    content["formats"] |= {name: dict(outcomes[name].most_common()) for name in sorted(outcomes)}
    write_json(arguments.output, content)


if __name__ == "__main__":
    main()
