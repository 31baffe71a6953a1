"""Filled sheets and their key, read and checked: whoever rated what, back in the systems' order.

Takes what the page exports and what spreadsheets make of the CSV: commas or semicolons between
cells, 4.2 or 4,2. A sheet is complete, or it is refused in one line that says what is missing.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sieve.errors import InputError, SieveError
from sieve.evaluate.human.human_sample import LETTERS, Key, columns
from sieve.files import read_json

LOWEST, HIGHEST, STEP = 10, 60, 2
"""Of ratings, in tenths: whole numbers, so that steps are exact."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """What annotators said."""

    test: str
    systems: tuple[str, ...]
    annotators: tuple[str, ...]
    """The files of their sheets."""
    missing: int
    """Annotators whose sheets were not given."""
    values: npt.NDArray[np.float64]
    """(annotators, segments, systems), from 1 to 6."""


def read_key(path: Path) -> Key:
    """What `sieve human sample` kept."""
    try:
        key = Key(**read_json(path))
        if not key.sheets or not all(len(rows) for rows in key.sheets.values()):
            raise TypeError("without sheets")
    except TypeError:
        raise InputError(f"{path}: is no key of `sieve human sample`") from None
    except SieveError as error:
        raise InputError(str(error)) from None
    return key


def read_ratings(key: Key, paths: Sequence[Path]) -> Ratings:
    """All ratings of complete sheets that belong to the key."""
    if not paths:
        raise InputError("got no sheets, expected the filled CSV of each annotator")
    owners: dict[str, Path] = {}
    tables = []
    for path in paths:
        name, rows = _read(path, key)
        if name in owners:
            raise InputError(f"{path}: is the same sheet ({name}) as {owners[name]}")
        owners[name] = path
        tables.append(_values(path, key, key.sheets[name], rows))
    return Ratings(
        key.test,
        tuple(key.systems),
        tuple(str(path) for path in paths),
        len(key.sheets) - len(paths),
        np.array(tables) / 10,
    )


def _read(path: Path, key: Key) -> tuple[str, dict[str, list[str]]]:
    """The name of a sheet, and the rating cells of each segment."""
    header, *lines = _cells(path)
    letters = LETTERS[: len(key.systems)]
    wanted = columns(len(key.systems))
    absent = [name for name in wanted if name not in header and not name.startswith("output")]
    if absent:
        raise InputError(
            f"{path}: has no column '{absent[0]}'; expected the columns of the sheet, from "
            f"'{wanted[0]}' to '{wanted[-1]}'"
        )
    place = {name: header.index(name) for name in wanted if name in header}
    rows: dict[str, list[str]] = {}
    names = set()
    for number, line in enumerate(lines, start=2):
        cells = line + [""] * (len(header) - len(line))
        names.add(cells[place["sheet"]].strip())
        segment = cells[place["segment"]].strip()
        if segment in rows:
            raise InputError(f"{path}, row {number}: segment {segment} is there twice")
        rows[segment] = [cells[place[f"rating {letter}"]].strip() for letter in letters]
    if len(names) != 1 or not names & key.sheets.keys():
        shown = ", ".join(sorted(names)) or "nothing"
        raise InputError(
            f"{path}: is the sheet {shown}, expected one of {', '.join(key.sheets)}: the key is "
            "another sample's"
        )
    return names.pop(), rows


def _cells(path: Path) -> list[list[str]]:
    try:
        # ids and ratings are ASCII: a spreadsheet's own encoding does no harm
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        first = text.partition("\n")[0]
        delimiter = max(",;\t", key=first.count)
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except csv.Error as error:
        raise InputError(f"{path}: is no CSV file: {error}") from None
    rows = [[cell.strip() for cell in row] for row in rows if any(map(str.strip, row))]
    if not rows:
        raise InputError(f"{path}: is empty, expected a filled sheet")
    return rows


def _values(
    path: Path, key: Key, orders: Mapping[str, Sequence[str]], rows: Mapping[str, list[str]]
) -> list[list[int]]:
    """Tenths (segments, systems), segments in the key's order."""
    unknown = [segment for segment in rows if segment not in orders]
    if unknown:
        raise InputError(f"{path}: has the segment '{unknown[0]}', which was not sampled")
    holes = [
        f"{segment} {letter}"
        for segment in key.lines
        for letter, cell in zip(LETTERS, rows.get(segment, [""] * len(key.systems)), strict=False)
        if not cell
    ]
    if holes:
        raise InputError(
            f"{path}: {len(holes)} of {len(key.lines) * len(key.systems)} ratings are missing, the "
            f"first of segment and output {holes[0]}; expected all: finish the sheet"
        )
    table = []
    for segment in key.lines:
        tenths = {
            system: _tenths(cell, f"{path}, segment {segment}, output {letter}")
            for letter, system, cell in zip(LETTERS, orders[segment], rows[segment], strict=False)
        }
        table.append([tenths[system] for system in key.systems])
    return table


def _tenths(cell: str, where: str) -> int:
    try:
        value = 10 * float(cell.replace(",", "."))
        tenths = round(value)
    except (ValueError, OverflowError):
        tenths, value = 0, 1.0
    exact = abs(value - tenths) < 1e-6 and (tenths - LOWEST) % STEP == 0
    if not exact or not LOWEST <= tenths <= HIGHEST:
        raise InputError(f"{where}: got '{cell}', expected a rating from 1 to 6 in steps of 0.2")
    return tenths
