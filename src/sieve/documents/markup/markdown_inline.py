r"""Markdown inside a paragraph: emphasis, links, code, images, footnotes, inline HTML.

What CommonMark reads as text is text here, and a mark that has no partner is text. `\*` reads as
`*`; a character that stood bare in the source is written bare again.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter

from sieve.documents.blocks import Block, Mark, Part, Syntax
from sieve.documents.markup.html_blocks import INLINE, VOID
from sieve.documents.markup.html_tokens import html_tokens

_TOKEN = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<auto><(?:[a-zA-Z][a-zA-Z0-9+.\-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>)"
    r"|(?P<url>(?<![\w/])(?:https?://|www\.)[^\s<>\[\]]*[^\s<>\[\]().,;:!?*_'\"])"
    r"|(?P<comment><!--)"
    r"|(?P<tag></?[a-zA-Z][^<>]*>)"
    r"|(?P<note>\[\^[^\[\]\s]+\])"
    r"|(?P<image>!\[)"
    r"|(?P<open>\[)"
    r"|(?P<close>\])"
    r"|(?P<run>\*+|_+|~~)",
    re.S,
)
_TARGET = re.compile(
    r"\(\s*(?!\s)(?:<[^<>\n]*>|(?:\\.|[^\s()\\]|\((?:\\.|[^\s()\\])*\))*)"
    r"(?:\s+(?!\s)(?:\"(?P<title>(?:\\.|[^\"\\])*)\"|'(?:\\.|[^'\\])*'|\((?:\\.|[^()\\])*\)))?\s*\)"
)
_LABEL = re.compile(r"\[((?:\\.|[^\[\]\\]){0,999})\]")
_SPECIAL = re.compile(r"[\\`*_\[\]<~]")
_LINE_END = re.compile(r"(?<![ \t])[ \t]*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")

_LONGEST, _LONGEST_LABEL = 9999, 999
"""Characters between the brackets of links and images, and of those that are labels."""

Item = str | Mark


def inline_block(
    text: str, labels: Collection[str], start: Callable[[str], str] = str, cell: bool = False
) -> Block:
    """A paragraph as a block.

    Args:
        text: Its lines.
        labels: Names of links that the document defines, in small letters.
        start: See `Block.start`.
        cell: Whether it stands in a table, where a bar must be escaped.
    """
    return Block(tuple(_Reader(text, labels).run()), _CELL if cell else _INLINE, start)


def plain_text(raw: str) -> str:
    """What is written, with escapes and entities read."""
    return html.unescape(_ESCAPED.sub(lambda match: _entity(match[1]), raw))


def _entity(character: str) -> str:
    return "&amp;" if character == "&" else character


def _write(text: str, source: str) -> str:
    """Escapes what the source had escaped or not at all."""

    def resolved(match: re.Match[str]) -> str:
        character = match[0]
        return character if _is_bare(character, source) else f"\\{character}"

    text = _SPECIAL.sub(resolved, _LINE_END.sub(" ", text))
    return re.sub(r"&(?=#?\w+;)", "&amp;", text)


@lru_cache(maxsize=64)
def _is_bare(character: str, source: str) -> bool:
    """Whether a source has a special character, and never escaped; a block asks this often."""
    return character in source and f"\\{character}" not in source and character != "\\"


_INLINE = Syntax(read=plain_text, write=_write)
_CELL = Syntax(read=plain_text, write=lambda text, source: _write(text, source).replace("|", "\\|"))
_TITLE = Syntax(
    read=plain_text, write=lambda text, source: _write(text, source).replace('"', '\\"')
)


@dataclass(frozen=True)
class _Bracket:
    """A `[` or `![` that a link or an image may begin with."""

    place: int
    """Of its item."""
    end: int
    """Of its text."""
    image: bool


@dataclass
class _Run:
    """A row of `*`, `_` or `~` that may open or close emphasis."""

    place: int
    character: str
    count: int
    opens: bool
    closes: bool


class _Reader:
    def __init__(self, text: str, labels: Collection[str]) -> None:
        self._text, self._labels = text, labels
        self._items: list[Item] = []
        self._brackets: list[_Bracket] = []
        self._sealed = 0  # brackets that hold a link already: no link in a link
        self._runs: list[_Run] = []
        self._names = 0
        self._last_comment = text.rfind("-->")

    def run(self) -> Iterator[Item]:
        place = 0
        text = self._text
        while match := _TOKEN.search(text, place):
            self._add_text(text[place : match.start()])
            place = self._token(match)
        self._add_text(text[place:])
        self._pair(0)
        for item in self._items:
            if item != "":
                yield item

    def _add_text(self, text: str) -> None:
        if text:
            self._items.append(text)

    def _token(self, match: re.Match[str]) -> int:
        """Takes one token in and says where the next begins."""
        kind = match.lastgroup if match.lastgroup != "ticks" else "code"
        raw = match[0]
        if kind == "escape":
            self._items.append(raw)
        elif kind in ("code", "auto", "url"):
            words = raw.strip("`<>").strip() if kind != "code" else raw.strip("`").strip()
            self._items.append(Mark("opaque", (raw,), text=words or "x", plain=raw))
        elif kind == "tag":
            self._items.append(_tag(raw))
        elif kind == "comment":
            return self._comment(match.start())
        elif kind == "note":
            self._items.append(Mark("point", (raw,), plain=raw))
        elif kind in ("open", "image"):
            self._brackets.append(_Bracket(len(self._items), match.end(), kind == "image"))
            self._items.append(raw)
        elif kind == "close":
            return self._close(match.start(), match.end())
        else:
            self._runs.append(self._emphasis(match))
            self._items.append(raw)
        return match.end()

    def _comment(self, start: int) -> int:
        """A comment, or the sign of one that never ends."""
        closing = self._text.find("-->", start + 4, self._last_comment + 3)
        if closing < 0:
            self._items.append("<!--")
            return start + 4
        raw = self._text[start : closing + 3]
        self._items.append(Mark("point", (raw,), plain=raw))
        return closing + 3

    def _emphasis(self, match: re.Match[str]) -> _Run:
        """Whether a run may open or close: the flanking rules of CommonMark."""
        before = self._text[match.start() - 1] if match.start() else " "
        after = self._text[match.end()] if match.end() < len(self._text) else " "
        left = not after.isspace() and (not _is_mark(after) or before.isspace() or _is_mark(before))
        right = not before.isspace() and (
            not _is_mark(before) or after.isspace() or _is_mark(after)
        )
        character = match[0][0]
        if character == "_":
            left, right = (
                left and (not right or _is_mark(before)),
                right and (not left or _is_mark(after)),
            )
        return _Run(len(self._items), character, len(match[0]), left, right)

    def _close(self, start: int, end: int) -> int:
        """A `]`: a link or an image, if one was open and what follows fits."""
        if not self._brackets:
            self._items.append("]")
            return end
        bracket = self._brackets.pop()
        sealed = len(self._brackets) < self._sealed
        self._sealed = min(self._sealed, len(self._brackets))
        own = self._text[bracket.end : start] if start - bracket.end <= _LONGEST else None
        if own is None or (sealed and not bracket.image):
            self._items.append("]")
            return end
        tail, closing = self._tail(own, start, end)
        if not tail:
            self._items.append("]")
            return end
        place = bracket.place
        if bracket.image:
            self._add_image(place, own, tail, closing)
        else:
            self._pair(place)
            self._names += 1
            name = f"link{self._names}"
            self._items[place] = Mark("open", ("[",), name, plain="[")
            self._items.append(Mark("close", closing, name, plain=tail))
            self._sealed = len(self._brackets)
        return start + len(tail)

    def _tail(self, own: str, start: int, end: int) -> tuple[str, tuple[Part, ...]]:
        """What ends a link after its text, and what must be written to keep where it leads."""
        if target := _TARGET.match(self._text, end):
            tail = self._text[start : target.end()]
            if not target["title"]:
                return tail, (tail,)
            first, last = target.start("title"), target.end("title")
            title = Block((target["title"],), _TITLE)
            return tail, (self._text[start:first], title, self._text[last : target.end()])
        label = _LABEL.match(self._text, end)
        if label and label[1].strip() and _key(label[1]) in self._labels:
            tail = self._text[start : label.end()]
            return tail, (tail,)
        if (
            len(own) <= _LONGEST_LABEL and _key(own) in self._labels
        ):  # its text is its label, which must not change
            return ("][]" if label and not label[1].strip() else "]"), (f"][{own}]",)
        return "", ()

    def _add_image(self, place: int, raw: str, tail: str, closing: tuple[Part, ...]) -> None:
        self._runs_from(place)
        del self._items[place:]
        alt: tuple[Part, ...] = (Block((raw,), _INLINE),) if raw.strip() else (raw,)
        self._items.append(Mark("point", ("![", *alt, *closing), plain=f"![{raw}{tail}"))

    def _runs_from(self, first: int) -> list[_Run]:
        """Takes out the runs from an item on."""
        start = bisect_left(self._runs, first, key=attrgetter("place"))
        runs = self._runs[start:]
        del self._runs[start:]
        return runs

    def _pair(self, first: int) -> None:
        """Makes marks of the runs from an item on that are partners; those left over are text."""
        runs = self._runs_from(first)
        if not runs:
            return
        before, after = self._partners(runs)
        items, first = self._items, runs[0].place
        paired, place = [], first
        for run in runs:
            rest: list[Item] = [run.character * run.count] if run.count else []
            paired += items[place : run.place]
            paired += [*before.get(run.place, ()), *rest, *after.get(run.place, ())[::-1]]
            place = run.place + 1
        items[first:] = [*paired, *items[place:]]

    def _partners(self, runs: list[_Run]) -> tuple[dict[int, list[Item]], dict[int, list[Item]]]:
        """Marks that stand before and, from right to left, behind what is left of each run."""
        before: dict[int, list[Item]] = {}
        after: dict[int, list[Item]] = {}
        opened: list[_Run] = []
        waiting: dict[str, list[int]] = {"*": [], "_": [], "~": []}  # their places in `opened`
        for run in runs:
            same = waiting[run.character]
            while run.closes and run.count and same:
                partner = opened[same[-1]]
                size = 2 if run.count > 1 and partner.count > 1 else 1
                self._names += 1
                name, raw = f"run{self._names}", run.character * size
                after.setdefault(partner.place, []).append(Mark("open", (raw,), name, plain=raw))
                before.setdefault(run.place, []).append(Mark("close", (raw,), name, plain=raw))
                partner.count -= size
                run.count -= size
                kept = same[-1] + (partner.count > 0)
                for other in opened[kept:]:
                    waiting[other.character].pop()
                del opened[kept:]
            if run.opens and run.count:
                same.append(len(opened))
                opened.append(run)
        return before, after


def _tag(raw: str) -> Mark:
    token = next(html_tokens(raw))
    if token.kind not in ("start", "end") or token.name not in INLINE or token.name in VOID:
        return Mark("point", (raw,), plain=raw)
    return Mark("open" if token.kind == "start" else "close", (raw,), token.name, plain=raw)


def _key(label: str) -> str:
    """Labels are compared with white space and capitals aside."""
    return " ".join(label.split()).casefold()


label_key = _key


def _is_mark(character: str) -> bool:
    return not character.isalnum() and not character.isspace()
