"""CSV and TSV: cells that are text, or the columns asked for; quotes and line ends stay.

The first row is the header and stays, if it looks like one or names the columns asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeAlias

from sieve.documents.blocks import Block, Part, Syntax
from sieve.documents.formats import DamagedError, Format, text_format
from sieve.documents.localization.messages import LINE_END, message
from sieve.documents.localization.text_values import TextValue, is_text, texts

_DELIMITERS = ",;\t|"
_LONGEST_NAME = 40
_SAMPLE = 1000
"""Rows that say which columns are text."""

_Row: TypeAlias = "list[re.Match[str]]"


def csv_parts(text: str, columns: Sequence[str] = ()) -> Iterator[Part]:
    """Reads a table whose cells are divided by what divides the first lines."""
    return _table(text, _delimiter(text), columns)


def tsv_parts(text: str, columns: Sequence[str] = ()) -> Iterator[Part]:
    """Reads a table whose cells are divided by tabs."""
    return _table(text, "\t", columns)


def _delimiter(text: str) -> str:
    """What the first lines have most of, outside quotes and as often in each."""
    lines = re.sub(r'"(?:[^"]|"")*"', "", text[:65536]).splitlines()[:20]
    counts = {sign: [line.count(sign) for line in lines if line] for sign in _DELIMITERS}
    even = {sign: min(count) for sign, count in counts.items() if count}
    best = max(even, key=lambda sign: even[sign], default=",")
    return best if even.get(best) else ","


def _table(text: str, delimiter: str, columns: Sequence[str]) -> Iterator[Part]:
    rows = list(_rows(text, delimiter))
    if not rows:
        yield text
        return
    header, wanted = _wanted(rows, columns)
    if header:
        yield "".join(cell[0] for cell in rows[0])
    for row in rows[header:]:
        for number, cell in enumerate(row):
            asked = number in wanted and (columns or is_text(_value(cell), (), True))
            if asked and any(map(str.isalpha, cell["plain"] or cell["quoted"] or "")):
                yield from _cell(cell, delimiter)
            else:
                yield cell[0]


def _rows(text: str, delimiter: str) -> Iterator[_Row]:
    sign = re.escape(delimiter)
    pattern = re.compile(
        rf'(?:"(?P<quoted>(?:[^"]|"")*)"(?=[ \t]*(?:{sign}|[\r\n]|\Z))|(?P<plain>[^\r\n{sign}]*))'
        rf"(?P<end>[ \t]*(?:{sign}|\r\n|\r|\n|\Z))"
    )
    place, row = 0, []
    while place < len(text):
        match = pattern.match(text, place)
        assert match is not None
        if delimiter != "\t" and (match["plain"] or "").startswith('"'):
            number = text.count("\n", 0, place) + 1
            raise DamagedError(f"line {number}: a quotation mark that is not closed")
        row.append(match)
        place = match.end()
        if not match["end"].endswith(delimiter):
            yield row
            row = []
    if row:
        yield row


def _wanted(rows: Sequence[_Row], columns: Sequence[str]) -> tuple[int, set[int]]:
    """Rows of the header, none or one, and numbers of the columns to translate."""
    names = [_value(cell).strip() for cell in rows[0]]
    by_number = all(column.isdecimal() and column not in names for column in columns)
    header = int((bool(columns) and not by_number) or _is_header(names))
    if not columns:
        return header, _text_columns(rows[header:][:_SAMPLE], names if header else [])
    wanted = set()
    for column in columns:
        if column in names:
            wanted.add(names.index(column))
        elif column.isdecimal() and 1 <= int(column) <= len(names):
            wanted.add(int(column) - 1)
        else:
            raise DamagedError(
                f"columns: got '{column}', expected a number from 1 to {len(names)} "
                f"or one of {', '.join(names)[:200]}"
            )
    return header, wanted


def _is_header(names: Sequence[str]) -> bool:
    """Whether cells look like names of columns."""
    return (
        len(set(names)) == len(names) > 1
        and all(name and len(name) <= _LONGEST_NAME for name in names)
        and not any(re.search(r"[.!?]$|^[-+\d.,%€$ ]+$", name) for name in names)
    )


def _text_columns(rows: Sequence[_Row], names: Sequence[str]) -> set[int]:
    """The columns of which most cells are text, each judged as if it were a catalogue."""
    columns = zip_longest(*([_value(cell) for cell in row] for row in rows), fillvalue="")
    wanted = set()
    for number, cells in enumerate(columns):
        path = (names[number],) if number < len(names) else ("",)
        filled = [TextValue(path, cell) for cell in cells if cell.strip()]
        if filled and 2 * sum(texts(filled)) > len(filled):
            wanted.add(number)
    return wanted


def _value(cell: re.Match[str]) -> str:
    quoted: str | None = cell["quoted"]
    return str(cell["plain"]) if quoted is None else quoted.replace('""', '"')


def _cell(cell: re.Match[str], delimiter: str) -> Iterator[Part]:
    if cell["quoted"] is not None:
        yield '"'
        yield message(cell["quoted"], _QUOTED, LINE_END)
        yield '"' + cell["end"]
        return
    block = message(cell["plain"], _PLAIN, LINE_END, _plain(delimiter))
    yield Block(block.items, block.syntax, block.start)
    yield cell["end"]


def _plain(delimiter: str) -> Callable[[str], str]:
    """A cell without quotes gets them where its translation needs them."""

    def write(text: str) -> str:
        if delimiter == "\t":
            return text.replace("\t", " ")
        needs = delimiter in text or text.startswith('"')
        return '"' + text.replace('"', '""') + '"' if needs else text

    return write


_QUOTED = Syntax(lambda raw: raw.replace('""', '"'), lambda text, _: text.replace('"', '""'))
_PLAIN = Syntax(str, lambda text, _: text)


def _with_columns(
    base: Format, parts: Callable[[str, Sequence[str]], Iterator[Part]]
) -> Callable[[Sequence[str]], Format]:
    return lambda columns: text_format(
        base.name, base.suffixes, base.media_type, lambda text: parts(text, columns)
    )


_CSV = text_format("csv", (".csv",), "text/csv", csv_parts)
_TSV = text_format("tsv", (".tsv", ".tab"), "text/tab-separated-values", tsv_parts)
CSV = replace(_CSV, with_columns=_with_columns(_CSV, csv_parts))
TSV = replace(_TSV, with_columns=_with_columns(_TSV, tsv_parts))
