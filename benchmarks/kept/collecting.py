"""Lines that people wrote: what must come through is found by rule in the source.

The lines of `open/written.*.txt` and `heldout/written.*.txt` are part of the benchmark; those of
test sets and corpora are read where they lie, and left out where they are absent.
"""

import bz2
import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from pathlib import Path

from kept.generating import Case
from kept.numerals import value
from kept.wants import Want

PER_FILE = 40
"""Lines taken from one file at most."""
_READ = 20_000
_SHORTEST, _LONGEST = 15, 300
_NUMBER = r"[0-9]+(?:[.,\u00a0\u202f'’][0-9]{3})*(?:[.,][0-9]+)?"
_FORMS = {
    "address": r"(?:https?|ftp|git)://[^\s<>\"]*[\w/]|\bwww\.[\w.-]+\.\w+(?:/[\w./-]*\w)?"
    r"|[\w.+-]+@[\w-]+(?:\.\w+)+",
    "markup": r"</?[A-Za-z][^<>]*>|&(?:lt|gt|amp|nbsp);",
    "placeholder": r"\$?\{\{?[^{}]*\}?\}|%(?:\d\$)?[sdifu@]\b|%\(\w+\)[sd]|\$[A-Za-z_]\w*|__\w+__"
    r"|<%=.*?%>",
    "code": r"`[^`]+`|\b[A-Za-z_]\w+\((?![A-Za-zäöü]{1,5}\))[\w, ]*\)|\b[a-z]+_\w+\b"
    r"|(?<!\S)--[a-z][\w-]+",
    "path": r"(?<!\S)(?:(?:~|\.{1,2}|[A-Z]:)[/\\]|/\w+/)[\w./\\-]*\w",
    "chat": r"(?<!\w)[#@][A-Za-z_]\w+|[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?",
    "script": r"[\u0370-\u03ff\u0590-\u06ff\u0900-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]+",
    "version": r"\b(?![0-9]{1,3}(?:\.[0-9]{3})+\b)v?[0-9]+(?:\.[0-9]+){2,}\b(?!\.?[0-9])",
    "time": r"(?<![0-9:])(?:(?P<hour>[01]?[0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?![0-9:])"
    r"|(?P<full>1?[0-9])(?=\s?[ap]\.?m\b))",
    "number": rf"(?<![\w.,]){_NUMBER}(?![\w.,]*[0-9])",
}
_ANY = re.compile("|".join(f"(?P<{name}>{form})" for name, form in _FORMS.items()))
_HALF = re.compile(r"\s?([ap])\.?m\b", re.IGNORECASE)


def wanted(source: str, language: str) -> tuple[str, tuple[Want, ...]]:
    """The category of a line, after the first thing of note in it, and what must come through."""
    category, wants = "", []
    for match in _ANY.finditer(source):
        kind = next(name for name in _FORMS if match[name] is not None)
        want = _want(kind, match, source, language)
        if want is not None:
            category = category or kind
            wants.append(want)
    return category, tuple(wants)


def _want(kind: str, match: re.Match[str], source: str, language: str) -> Want | None:
    if kind == "time":
        hour, half = int(match["hour"] or match["full"]), _HALF.match(source, match.end())
        if half is not None:
            hour = hour % 12 + (12 if half[1] in "pP" else 0)
        return Want("time", match[0], (Decimal(hour), Decimal(match["minute"] or 0)))
    if kind != "number":
        return Want("verbatim", match[0])
    amount = value(match[0], language)
    return None if amount is None or amount in (0, 1) else Want("number", match[0], (amount,))


def written(folder: Path, half: str, language: str) -> Iterator[Case]:
    """The lines written for this benchmark."""
    path = folder / half / f"written.{language}.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        category, wants = wanted(line, language)
        yield Case(f"written: {category}", line, wants, half)


def collected(data: Path, language: str) -> Iterator[Case]:
    """Lines of test sets and corpora that have something to keep, a few from each file."""
    paths = [*data.glob(f"test/*.{language}"), *data.glob(f"train/*.{language}.bz2")]
    for path in sorted(paths):
        yield from islice(_of_file(path, language), PER_FILE)


def _of_file(path: Path, language: str) -> Iterator[Case]:
    read = bz2.open if path.suffix == ".bz2" else open
    with read(path, "rt", encoding="utf-8") as lines:
        for line in islice(lines, _READ):
            source = line.strip()
            category, wants = wanted(source, language)
            if wants and _SHORTEST <= len(source) <= _LONGEST:
                yield Case(f"collected: {category}", source, wants, "open")
