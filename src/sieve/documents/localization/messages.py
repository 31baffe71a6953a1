"""Messages of programs: tags, choices by number and line ends inside a string. Knows no format.

Placeholders are left to the repairs, which keep them in every line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from sieve.documents.blocks import Block, Mark, Part, Syntax
from sieve.documents.markup.html_blocks import INLINE, VOID
from sieve.repair.draft import Span

ESCAPED_LINE_END = r"(?:\\r)?\\n"
"""Of formats that write `\\n`."""
LINE_END = r"\r?\n"

_CHOICE = r"\{\s*[\w.]+\s*,\s*(?:plural|select|selectordinal)\s*,"
_BRANCH = re.compile(r"(?:offset:\s*\d+|=?[\w-]+)\s*(\{)?|\s+")
_TAG_NAME = re.compile(r"(?:<|&lt;)/?([A-Za-z][\w:.-]*)")
_MOST_DEPTH = 8


def message(
    raw: str,
    syntax: Syntax,
    line_end: str = ESCAPED_LINE_END,
    start: Callable[[str], str] = str,
    original: tuple[Part, ...] = (),
) -> Block:
    """A string as a block.

    Args:
        raw: As it is written.
        syntax: Of the format.
        line_end: A pattern for ends of lines, which sentences do not go over.
        start: See `Block`.
        original: See `Block`.
    """
    return Block(tuple(_items(raw, syntax, line_end, 0)), syntax, start, original)


def _items(raw: str, syntax: Syntax, line_end: str, depth: int) -> Iterator[str | Mark]:
    pattern = re.compile(
        rf"(?P<end>{line_end})|(?P<tag></?[A-Za-z][^<>]*>|&lt;/?[A-Za-z](?:(?!&[lg]t;).)*&gt;)"
        rf"|(?P<choice>{_CHOICE})|\\.",
        re.S,
    )
    place = at = 0
    while match := pattern.search(raw, at):
        at, mark = match.end(), None
        if match["end"]:
            mark = Mark("break", (match[0],), plain=match[0])
        elif match["tag"]:
            mark = _tag(match[0], raw)
        elif match["choice"] and depth < _MOST_DEPTH:
            mark = _choice(raw, match, syntax, line_end, depth)
            at = match.start() + len(mark.plain) if mark else at
        if mark is not None:
            if match.start() > place:
                yield raw[place : match.start()]
            yield mark
            place = at
    if place < len(raw):
        yield raw[place:]


def _tag(tag: str, raw: str) -> Mark | None:
    """A tag as a mark; None where it is rather a placeholder, such as `<file>`."""
    match = _TAG_NAME.match(tag)
    name = match[1] if match else ""
    closes = tag.startswith(("</", "&lt;/"))
    if name.lower() == "br":
        return Mark("break", (tag,), plain=tag)
    empty = tag.endswith(("/>", "/&gt;")) or name.lower() in VOID
    if not empty and name.lower() not in INLINE and f"/{name}" not in raw:
        return None
    return Mark("point" if empty else "close" if closes else "open", (tag,), name, plain=tag)


def _choice(
    raw: str, match: re.Match[str], syntax: Syntax, line_end: str, depth: int
) -> Mark | None:
    """`{count, plural, one {…} other {…}}` as a placeholder, with its texts as blocks inside."""
    parts: list[Part | Span] = [match[0]]  # branches are read once all is known to fit
    place = match.end()
    while branch := _BRANCH.match(raw, place):
        parts.append(branch[0])
        place = branch.end()
        if branch[1]:
            end = _closings(raw).get(place - 1, -1)
            if end < 0:
                return None
            parts += [(place, end), "}"]
            place = end + 1
    if not raw.startswith("}", place):
        return None
    written: list[Part] = []
    for part in parts:
        if isinstance(part, tuple):
            inside = tuple(_items(raw[slice(*part)], syntax, line_end, depth + 1))
            written += [Block(inside, syntax)] if inside else []
        else:
            written.append(part)
    return Mark("opaque", (*written, "}"), text="{0}", plain=raw[match.start() : place + 1])


@lru_cache(maxsize=2 * _MOST_DEPTH)
def _closings(raw: str) -> dict[int, int]:
    """Where each brace closes, by where it opens."""
    waiting: list[int] = []
    closings: dict[int, int] = {}
    for match in re.finditer(r"[{}]", raw):
        if match[0] == "{":
            waiting.append(match.start())
        elif waiting:
            closings[waiting.pop()] = match.start()
    return closings
