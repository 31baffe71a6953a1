"""Sheets for human evaluation (paper, §4.1 and appendix A): who is asked about what, blind.

Only segments whose outputs differ are worth an annotator's time. Each annotator gets all of them
in an order of their own, and for each segment the systems in an order of its own; which output is
whose stands in the key alone. The same input and seed give the same sheets.
"""

import csv
import hashlib
import io
import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sieve.errors import InputError
from sieve.files import whole_file, write_json
from sieve.pages.standalone import render

LETTERS = "ABCDEFGH"
KEY_FILE = "key.json"
SHEETS = "sheets"


@dataclass(frozen=True)
class SystemOutputs:
    """What several systems made of the same lines."""

    test: str
    sources: tuple[str, ...]
    systems: dict[str, tuple[str, ...]]
    """By name; the first is the baseline."""
    languages: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        if not 2 <= len(self.systems) <= len(LETTERS):
            raise InputError(
                f"got {len(self.systems)} systems, expected 2 to {len(LETTERS)} to compare"
            )
        for name, lines in self.systems.items():
            if len(lines) != len(self.sources):
                raise InputError(
                    f"system {name}: got {len(lines)} lines for {len(self.sources)} source lines, "
                    "expected as many"
                )


@dataclass(frozen=True)
class SampleOptions:
    """How many of which segments, for how many annotators."""

    number: int | None = None
    """Segments drawn at random; None for all that differ."""
    annotators: int = 2
    differ: tuple[str, ...] = ()
    """Systems between which outputs must differ; by default any of all."""
    seed: int = 1


@dataclass(frozen=True)
class Item:
    """A segment as an annotator sees it."""

    segment: str
    source: str
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    """All that one annotator rates."""

    name: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Key:
    """Which output is whose: not for annotators."""

    sample: str
    test: str
    systems: tuple[str, ...]
    baseline: str
    differing: int
    """Segments that could have been drawn."""
    lines: dict[str, int]
    """Line number (from 1) of each segment."""
    sheets: dict[str, dict[str, tuple[str, ...]]]
    """By sheet and segment: the systems in the order shown."""


def draw(outputs: SystemOutputs, options: SampleOptions) -> tuple[Key, list[Sheet]]:
    """The key and a sheet for each annotator."""
    rows = _differing(outputs, options.differ)
    if not rows:
        raise InputError(
            f"{outputs.test}: no segment differs between "
            f"{', '.join(options.differ or outputs.systems)}, nothing to rate"
        )
    rng = random.Random(options.seed)
    number = min(options.number or len(rows), len(rows))
    chosen = sorted(rng.sample(rows, number))
    width = len(str(number))
    names = {row: f"s{place:0{width}d}" for place, row in enumerate(chosen, start=1)}
    sample = _fingerprint(outputs, options)
    sheets, shown = [], {}
    for annotator in range(1, options.annotators + 1):
        order = rng.sample(chosen, number)
        orders = {
            names[row]: tuple(rng.sample(list(outputs.systems), len(outputs.systems)))
            for row in order
        }
        items = tuple(
            Item(
                names[row],
                outputs.sources[row],
                tuple(outputs.systems[system][row] for system in orders[names[row]]),
            )
            for row in order
        )
        sheets.append(Sheet(f"{sample}-{annotator}", items))
        shown[sheets[-1].name] = orders
    key = Key(
        sample,
        outputs.test,
        tuple(outputs.systems),
        next(iter(outputs.systems)),
        len(rows),
        {names[row]: row + 1 for row in chosen},
        shown,
    )
    return key, sheets


def write_sample(
    directory: Path, key: Key, sheets: Sequence[Sheet], outputs: SystemOutputs
) -> None:
    """`sheets/` to give away (CSV and HTML, one each), `key.json` to keep."""
    pages = [as_page(sheet, outputs.languages) for sheet in sheets]
    try:
        (directory / SHEETS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{directory}: cannot be made: {error.strerror}") from None
    for number, (sheet, page) in enumerate(zip(sheets, pages, strict=True), start=1):
        stem = directory / SHEETS / f"annotator-{number}"
        # with a byte-order mark, or spreadsheets take it for another encoding
        _write(stem.with_suffix(".csv"), "\ufeff" + as_csv(sheet))
        _write(stem.with_suffix(".html"), page)
    write_json(directory / KEY_FILE, asdict(key))


def columns(systems: int) -> list[str]:
    """The header of a sheet."""
    letters = LETTERS[:systems]
    ratings = [f"rating {letter}" for letter in letters]
    return ["sheet", "segment", "source", *(f"output {letter}" for letter in letters), *ratings]


def as_csv(sheet: Sheet) -> str:
    """A sheet for a spreadsheet: the last columns are to be filled."""
    number = len(sheet.items[0].outputs)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns(number))
    for item in sheet.items:
        writer.writerow([sheet.name, item.segment, item.source, *item.outputs, *[""] * number])
    return text.getvalue()


def as_page(sheet: Sheet, languages: tuple[str, str] = ("", "")) -> str:
    """A sheet as one HTML page that needs nothing else."""
    number = len(sheet.items[0].outputs)
    data = {**asdict(sheet), "columns": columns(number), "languages": languages}
    return render("evaluate/human/rating_sheet.html", title="Rating sheet", sheet=data)


def _differing(outputs: SystemOutputs, systems: Sequence[str]) -> list[int]:
    for name in systems:
        if name not in outputs.systems:
            raise InputError(
                f"no system '{name}' to differ from: expected some of {', '.join(outputs.systems)}"
            )
    lines = zip(*(outputs.systems[name] for name in systems or outputs.systems), strict=True)
    return [row for row, texts in enumerate(lines) if len(set(texts)) > 1]


def _fingerprint(outputs: SystemOutputs, options: SampleOptions) -> str:
    """Tells this sample from any other, so that no sheet is scored with another's key."""
    content = json.dumps([asdict(outputs), asdict(options)]).encode()
    return hashlib.sha256(content).hexdigest()[:8]


def _write(path: Path, text: str) -> None:
    with whole_file(path) as partial:
        partial.write_bytes(text.encode("utf-8", errors="replace"))
