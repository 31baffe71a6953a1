"""The models that are here: built-in ones, imported ones that were kept, and those of folders.

A line each: name, kind, languages, size, weights, available selections, licence, origin.

Examples:
  sieve models
  sieve models my-models --json
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sieve.bundle.catalogue import Entry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `sieve models`."""
    parser.add_argument(
        "folders", nargs="*", type=Path, metavar="DIR", help="model directories, or folders of some"
    )
    parser.add_argument("--json", action="store_true", help="a JSON object a line, with hashes")


def execute(arguments: argparse.Namespace) -> None:
    """Lists the models."""
    from sieve.bundle.catalogue import catalogue
    from sieve.errors import InputError
    from sieve.importers.cache import cache_folder

    for folder in arguments.folders:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such directory")
    entries = catalogue(cache_folder(), tuple(arguments.folders))
    for line in map(_as_json, entries) if arguments.json else _table(entries):
        sys.stdout.write(line + "\n")


def _as_json(entry: "Entry") -> str:
    import json
    from dataclasses import asdict

    return json.dumps(asdict(entry), default=str, ensure_ascii=False)


def _table(entries: "list[Entry]") -> list[str]:
    """Columns as wide as they need to be, a line for each model under a headline."""
    rows = [("name", "kind", "languages", "MB", "weights", "selection", "licence", "origin")]
    rows += [
        (
            entry.name,
            entry.kind,
            "-".join(entry.languages) or "?",
            f"{entry.bytes / 1e6:.0f}",
            entry.weights,
            "+".join(entry.selection) or "none",
            entry.licence,
            " ".join(str(entry.origin.get(key, "")) for key in ("family", "source")).strip() or "-",
        )
        for entry in entries
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
