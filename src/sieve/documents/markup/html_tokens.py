"""HTML into tokens that together are the document, character for character.

Follows the standard's tokenizer in what is a tag and what is text, however broken the document.
Python's own parser gives end tags and some broken markup back changed, and differently from
release to release; a browser's tree would add and move tags. Nothing here is ever run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

RAW_TEXT = {
    "script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext",
}  # fmt: skip
"""Elements whose content holds no tags."""

_TAG = re.compile(r"</?[a-zA-Z][^\s/>]*")
_OTHER = re.compile(
    r"<!--(?:>|->|.*?(?:--!?>|\Z))|<!\[CDATA\[.*?(?:\]\]>|\Z)|<[!?/][^>]*(?:>|\Z)", re.S
)
_SPACE = re.compile(r"[\s/]*")
_NAME = re.compile(r"[^\s/>][^\s/>=]*")
_VALUE = re.compile(r"\s*=\s*(?:\"([^\"]*)(?:\"|\Z)|'([^']*)(?:'|\Z)|([^\s>]*))")


@dataclass(frozen=True)
class Attribute:
    """An attribute of a tag; where its value stands in the tag, without quotes."""

    name: str
    value: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class Token:
    """A tag, a text, or something else (comments, declarations, what is raw)."""

    kind: Literal["start", "end", "text", "raw", "other"]
    raw: str
    name: str = ""
    """Of a tag, in small letters; for raw text that of the element it is in."""
    attributes: tuple[Attribute, ...] = field(default=())

    def get(self, name: str) -> str | None:
        """The value of an attribute, None where there is none."""
        return self._values.get(name)

    @cached_property
    def _values(self) -> dict[str, str]:
        """By name; the first of several is the one that counts."""
        return {attribute.name: attribute.value for attribute in reversed(self.attributes)}

    @property
    def closes_itself(self) -> bool:
        """Whether it is written `<name/>`."""
        return self.raw.endswith("/>")


def html_tokens(text: str, xhtml: bool = False) -> Iterator[Token]:
    """Cuts a document into tokens.

    Args:
        text: The document.
        xhtml: Whether `<name/>` has no content, whatever its name.
    """
    start = place = 0
    while (place := text.find("<", place)) >= 0:
        token = _markup(text, place)
        if token is None:  # a sign for "less than"
            place += 1
            continue
        if place > start:
            yield Token("text", text[start:place])
        yield token
        start = place = place + len(token.raw)
        closed = xhtml and token.closes_itself
        if token.kind == "start" and token.name in RAW_TEXT and not closed:
            raw = _raw_text(text, place, token.name)
            if raw:
                yield Token("raw", raw, token.name)
            start = place = place + len(raw)
    if start < len(text):
        yield Token("text", text[start:])


def _markup(text: str, place: int) -> Token | None:
    if match := _TAG.match(text, place):
        return _tag(text, place, match)
    if match := _OTHER.match(text, place):
        return Token("other", match[0])
    return None


def _tag(text: str, place: int, match: re.Match[str]) -> Token:
    attributes = []
    end = match.end()
    while True:
        space = _SPACE.match(text, end)
        end = space.end() if space else end
        name = _NAME.match(text, end)
        if name is None:
            break
        end = name.end()
        value = _VALUE.match(text, end)
        if value is None:
            attributes.append(Attribute(name[0].lower(), "", 0, 0, ""))
            continue
        end = value.end()
        group = value.lastindex or 3
        first, last = value.span(group)
        attributes.append(
            Attribute(
                name[0].lower(),
                value[group],
                first - place,
                last - place,
                "\"' "[group - 1].strip(),
            )
        )
    end = min(end + 1, len(text))  # the >, unless the document ends first
    is_end = match[0].startswith("</")
    return Token(
        "end" if is_end else "start",
        text[place:end],
        match[0].lstrip("</").lower(),
        tuple(attributes),
    )


def _raw_text(text: str, place: int, name: str) -> str:
    if name == "plaintext":
        return text[place:]
    end = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, place)
    return text[place : end.start() if end else len(text)]
