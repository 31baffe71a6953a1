"""Markdown into blocks: headings, paragraphs, list items, quotes, table cells.

Code, link definitions and every marker stay as they are, and of front matter all but titles. The
lines of a paragraph become one line, because sentences do not end where lines do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sieve.documents.blocks import Part
from sieve.documents.markup.front_matter import front_matter
from sieve.documents.markup.html_blocks import html_parts
from sieve.documents.markup.markdown_inline import inline_block, label_key

_FRONT = re.compile(r"\A(---|\+\+\+)[ \t]*\r?\n.*?^\1[ \t]*(?:\r?\n|\Z)", re.S | re.M)
_DEFINITION = re.compile(r"^[ >]{0,9}\[([^\]\n^][^\]\n]*)\]:[ \t]*\S.*$", re.M)
_MARKER = re.compile(
    r"(?:[ \t]*>[ \t]?)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)]|\[\^[^\]\s]+\]:)[ \t]+(?:\[[ xX]\][ \t]+)?)*"
)
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)*")
_LIST = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+|$)")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|=+|-+)[ \t]*$")
_HTML = re.compile(r"<(?:[a-zA-Z/!?])")
_INLINE_HTML = re.compile(
    r"<(?:https?:|mailto:|/?(?:a|abbr|b|bdi|bdo|cite|code|del|em|i|img|ins|kbd|mark|q|s|small|span"
    r"|strong|sub|sup|u|var|samp|time)\b)",
    re.I,
)
_TABLE_RULE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$")
_CELL = re.compile(r"(?:\\.|[^|\\]|\\)+")
_HARD_BREAK = re.compile(r"(?:(?<! ) {2,}|\\)$")
_BLOCK_START = re.compile(r"(?=[-+*][ \t]|#{1,6}[ \t]|>|[-=]+[ \t]*$|~~~|```)|(\d+)(?=[.)][ \t])")


def markdown_parts(text: str) -> Iterator[Part]:
    """Reads a document."""
    front = _FRONT.match(text)
    if front:
        yield from front_matter(front[0])
        text = text[front.end() :]
    labels = {label_key(match[1]) for match in _DEFINITION.finditer(text)}
    yield from _Reader(text, labels).run()


class _Reader:
    """One pass over the lines."""

    def __init__(self, text: str, labels: set[str]) -> None:
        self._lines: list[str] = re.findall(r"[^\n]*\n|[^\n]+\Z", text)
        self._labels = labels
        self._at = 0
        self._blank = True  # what stands before the line is no paragraph
        self._in_list = False

    def run(self) -> Iterator[Part]:
        while self._at < len(self._lines):
            before = self._at
            yield from self._block()
            assert self._at > before

    def _block(self) -> Iterator[Part]:
        line = self._lines[self._at]
        body, end = _body(line)
        lead = _QUOTE.match(body)
        assert lead is not None
        rest = body[lead.end() :]
        if not rest.strip():
            self._blank = True
            yield self._take()
            return
        indented = _is_indented(body)
        if indented and self._blank and not self._in_list:
            yield self._take()
            return
        self._in_list = self._in_list and (indented or self._blank is False or bool(lead[0]))
        marker = _MARKER.match(body)
        assert marker is not None
        if _RULE.match(rest) or _DEFINITION.match(body):
            self._blank = True
            yield self._take()
            return
        if _LIST.match(rest):
            self._in_list = True
        content = body[marker.end() :]
        yield from self._content(marker[0], content, end)

    def _content(self, marker: str, content: str, end: str) -> Iterator[Part]:
        fence = _FENCE.match(content)
        if fence:
            yield from self._fenced(fence[1])
        elif _HTML.match(content) and not _INLINE_HTML.match(content):
            yield from self._html()
        elif heading := _HEADING.match(content):
            self._at += 1
            yield marker + heading[0]
            title = _without_signs(content[heading.end() :])
            yield inline_block(title, self._labels)
            yield content[heading.end() + len(title) :] + end
            self._blank = True
        elif self._is_table():
            yield from self._table()
        else:
            yield from self._paragraph(marker, content, end)

    def _take(self) -> str:
        self._at += 1
        return self._lines[self._at - 1]

    def _fenced(self, fence: str) -> Iterator[Part]:
        close = re.compile(rf"[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
        yield self._take()
        while self._at < len(self._lines):
            line = self._take()
            yield line
            if close.match(_body(line)[0]):
                break
        self._blank = True

    def _html(self) -> Iterator[Part]:
        lines = []
        raw = re.match(r"[ \t>]*<(pre|script|style|textarea|!--)", self._lines[self._at], re.I)
        stop = None
        if raw:
            name = raw[1].lower()
            stop = "-->" if name == "!--" else f"</{name}>"
        while self._at < len(self._lines):
            if stop is None and not self._lines[self._at].strip():
                break
            lines.append(self._take())
            if stop is not None and stop in lines[-1].lower():
                break
        self._blank = True
        yield from html_parts("".join(lines))

    def _is_table(self) -> bool:
        if self._at + 1 >= len(self._lines) or "|" not in self._lines[self._at]:
            return False
        rule = _body(self._lines[self._at + 1])[0]
        lead = _QUOTE.match(rule)
        rest = rule[lead.end() :] if lead else rule
        return "|" in rest and _TABLE_RULE.match(rest) is not None

    def _table(self) -> Iterator[Part]:
        number = 0
        while self._at < len(self._lines) and "|" in self._lines[self._at]:
            body, end = _body(self._take())
            if number == 1:
                yield body + end
            else:
                lead = _QUOTE.match(body)
                assert lead is not None
                yield lead[0]
                yield from self._row(body[lead.end() :])
                yield end
            number += 1
        self._blank = True

    def _row(self, row: str) -> Iterator[Part]:
        place = 0
        for cell in _CELL.finditer(row):
            yield row[place : cell.start()]
            text = cell[0].strip()
            first = cell[0].index(text) if text else 0
            yield cell[0][:first]
            if text:
                yield inline_block(text, self._labels, cell=True)
            yield cell[0][first + len(text) :]
            place = cell.end()
        yield row[place:]

    def _paragraph(self, marker: str, content: str, end: str) -> Iterator[Part]:
        """Lines up to one that begins something else."""
        yield marker
        self._at += 1
        lines = [content]
        while True:
            broken = _HARD_BREAK.search(lines[-1])
            following = self._continuation(marker.count(">"))
            if broken and following is not None:
                lines[-1] = lines[-1][: broken.start()]
                yield inline_block("\n".join(lines), self._labels, _safe)
                yield broken[0] + end + following[0]
                lines = []
            elif following is None:
                break
            lines.append(following[1])
            end = _body(self._take())[1]
        text = "\n".join(lines)
        kept = text.rstrip(" \t")
        yield inline_block(kept, self._labels, _safe)
        yield text[len(kept) :] + end
        self._blank = False

    def _continuation(self, depth: int) -> tuple[str, str] | None:
        """Lead and text of the next line if it goes on with a paragraph so deep in quotes."""
        if self._at >= len(self._lines):
            return None
        body, _ = _body(self._lines[self._at])
        lead = _QUOTE.match(body)
        assert lead is not None
        rest = body[lead.end() :]
        begins = (
            not rest.strip()
            or lead[0].count(">") > depth
            or _LIST.match(rest)
            or _FENCE.match(rest)
            or _HEADING.match(rest)
            or _RULE.match(rest)
            or _DEFINITION.match(body)
            or (_HTML.match(rest) and not _INLINE_HTML.match(rest))
            or self._is_table()
        )
        return None if begins else (lead[0], rest)


def _without_signs(title: str) -> str:
    """A heading without the signs that may close it."""
    bare = title.rstrip(" \t").rstrip("#")
    closed = not bare or bare[-1] in " \t"
    return (bare if closed else title).rstrip(" \t")


def _is_indented(body: str) -> bool:
    space = body[: len(body) - len(body.lstrip(" \t"))]
    return len(space.expandtabs(4)) >= 4


def _body(line: str) -> tuple[str, str]:
    """A line and its end."""
    body = line.rstrip("\r\n")
    return body, line[len(body) :]


def _safe(text: str) -> str:
    """A paragraph must not begin like something else."""
    start = _BLOCK_START.match(text)
    if start is None:
        return text
    return f"{text[: start.end()]}\\{text[start.end() :]}"
