"""XML into tokens that together are the document, character for character.

Strict: what is not well-formed is refused. Nothing is expanded but characters by number and the
five entities that XML defines, so that no entity can grow; nothing is fetched. Reads in chunks:
what is in memory is a token, however long the document.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sieve.documents.formats import DamagedError

MOST_DEPTH = 200
MOST_CHARACTERS = 16 << 20
"""Of a token, and of what is read as one block."""

_NAME = r"[^\s<>/=\"'&!?]+"
_ATTRIBUTE = rf"\s+({_NAME})\s*=\s*(?:\"([^<\"]*)\"|'([^<']*)')"
_TOKEN = re.compile(
    rf"(?P<text>[^<]+)"
    rf"|<(?P<name>{_NAME})(?:\s+{_NAME}\s*=\s*(?:\"[^<\"]*\"|'[^<']*'))*\s*(?P<empty>/?)>"
    rf"|</(?P<end>{_NAME})\s*>"
    rf"|(?P<other><!--.*?-->|<\?.*?\?>|<!DOCTYPE[^<>\[]*>)"
    rf"|(?P<cdata><!\[CDATA\[.*?\]\]>)",
    re.S,
)
_INSIDE_TEXT = re.compile(r"<!\[CDATA\[(.*?)\]\]>|<[!?].*?>", re.S)
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
_ILLEGAL = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF], " ")

Kind = Literal["start", "end", "empty", "text", "cdata", "other"]


@dataclass(frozen=True, slots=True)
class XmlToken:
    """A tag, a text, or something else (comments, instructions, the document type)."""

    kind: Kind
    raw: str
    name: str = ""
    """Of a tag: the short name of its namespace, a colon, its own; see `xml_tokens`."""


def attributes(head: str) -> dict[str, str]:
    """Values of a tag's attributes as text, by their names as they are written."""
    return {
        match[1]: unescaped(match[2] if match[2] is not None else match[3])
        for match in _ATTRIBUTES.finditer(head)
    }


def attribute_spans(head: str) -> dict[str, tuple[int, int]]:
    """Where the values of a tag's attributes stand in it, without quotes."""
    return {
        match[1]: match.span(2 if match[2] is not None else 3)
        for match in _ATTRIBUTES.finditer(head)
    }


def unescaped(raw: str) -> str:
    """What is written, as text; comments are none."""
    if "<" not in raw:
        return html.unescape(raw) if "&" in raw else raw
    parts = _INSIDE_TEXT.split(raw)  # text, then what CDATA holds, by turns
    return "".join(part if n % 2 else html.unescape(part) for n, part in enumerate(parts) if part)


def escaped(text: str) -> str:
    """Text as it is written between tags and in attributes; what XML cannot say is a space."""
    text = text.translate(_ILLEGAL).replace("&", "&amp;").replace("<", "&lt;")
    return text.replace(">", "&gt;").replace('"', "&quot;")


def xml_tokens(chunks: Iterable[str], namespaces: Mapping[str, str]) -> Iterator[XmlToken]:
    """Cuts a document into tokens.

    Args:
        chunks: The document in any pieces.
        namespaces: Short names of the namespaces that the reader knows; a tag in another one is
            called `{namespace}name`, one in none `name`.
    """
    return _Tokens(chunks, namespaces).run()


class _Tokens:
    def __init__(self, chunks: Iterable[str], namespaces: Mapping[str, str]) -> None:
        self._chunks = iter(chunks)
        self._short = namespaces
        self._open: list[tuple[str, str, dict[str, str]]] = []  # as written, name, namespaces
        self._declared: dict[str, str] = {"xml": "xml"}
        self._names: dict[str, str] = {}
        self._seen_root = False

    def run(self) -> Iterator[XmlToken]:
        buffer, place, passed = "", 0, 0
        while True:
            match = _TOKEN.match(buffer, place)
            if match is None or match.end() == len(buffer):
                more = self._more(len(buffer) - place, passed + place)
                if more:
                    buffer, passed, place = buffer[place:] + more, passed + place, 0
                    continue
                if match is None and place == len(buffer):
                    break
            if match is None:
                raise DamagedError(f"not well-formed XML at character {passed + place + 1}")
            token = self._token(match, passed + place)
            yield token
            place = match.end()
        if self._open or not self._seen_root:
            raise DamagedError("not well-formed XML: it ends too early")

    def _more(self, size: int, place: int) -> str:
        if size > MOST_CHARACTERS:
            raise DamagedError(f"not well-formed XML at character {place + 1}, or too large")
        chunks, length = [], 0
        for chunk in self._chunks:
            chunks.append(chunk)
            length += len(chunk)
            if length >= size:  # twice as much each time: what is long is not read over and over
                break
        return "".join(chunks)

    def _token(self, match: re.Match[str], place: int) -> XmlToken:
        kind, raw = match.lastgroup, match[0]
        if kind == "text":
            self._check_text(raw, place)
            return XmlToken("text", raw)
        if kind == "end":
            return self._end(match["end"], raw, place)
        if kind in ("empty", "name"):
            return self._start(match["name"], raw, bool(match["empty"]), place)
        if kind == "cdata":
            return XmlToken("cdata", raw)
        return XmlToken("other", raw)

    def _check_text(self, raw: str, place: int) -> None:
        if not self._open and raw.strip("\ufeff \t\r\n"):
            raise DamagedError(f"not well-formed XML at character {place + 1}: text outside tags")
        if "&" in raw and (reference := _REFERENCE.search(raw)):
            place += reference.start() + 1
            raise DamagedError(f"not well-formed XML at character {place}: unknown entity")

    def _start(self, written: str, raw: str, empty: bool, place: int) -> XmlToken:
        if not self._open and self._seen_root:
            raise DamagedError(f"not well-formed XML at character {place + 1}: a second root")
        if len(self._open) >= MOST_DEPTH:
            raise DamagedError(f"nested more than {MOST_DEPTH} deep at character {place + 1}")
        self._seen_root = True
        before = self._declared
        if "xmlns" in raw:
            self._declare(raw)
        name = self._name(written)
        if not empty:
            self._open.append((written, name, before))
        elif before is not self._declared:
            self._declared, self._names = before, {}
        return XmlToken("empty" if empty else "start", raw, name)

    def _end(self, written: str, raw: str, place: int) -> XmlToken:
        if not self._open or self._open[-1][0] != written:
            expected = f", expected </{self._open[-1][0]}>" if self._open else ""
            raise DamagedError(
                f"not well-formed XML at character {place + 1}: got </{written[:40]}>{expected}"
            )
        _, name, before = self._open.pop()
        if before is not self._declared:
            self._declared, self._names = before, {}
        return XmlToken("end", raw, name)

    def _declare(self, raw: str) -> None:
        declared = {
            name.partition(":")[2]: value
            for name, value in attributes(raw).items()
            if name == "xmlns" or name.startswith("xmlns:")
        }
        if declared:
            self._declared, self._names = {**self._declared, **declared}, {}

    def _name(self, written: str) -> str:
        if (known := self._names.get(written)) is not None:
            return known
        prefix, _, local = written.rpartition(":")
        namespace = self._declared.get(prefix, prefix)
        short = self._short.get(namespace)
        if short is not None:
            name = f"{short}:{local}" if short else local
        else:
            name = f"{{{namespace}}}{local}" if namespace else local
        self._names[written] = name
        return name
