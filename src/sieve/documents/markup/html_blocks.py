"""HTML into blocks: block tags divide, inline tags are markup, code and the like stay as they are.

Attributes stay as well, but for those that people read. `translate="no"` and the class
`notranslate` keep an element as it is.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.entities import html5

from sieve.documents.blocks import Block, Kind, LanguageCode, Mark, Part, Syntax
from sieve.documents.markup.html_tokens import Attribute, Token, html_tokens

INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em", "font",
    "i", "img", "ins", "label", "mark", "nobr", "output", "q", "rb", "rp", "rt", "rtc", "ruby",
    "s", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "wbr", "input",
    "select",
}  # fmt: skip
VOID = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
}  # fmt: skip
KEPT = {
    "code", "kbd", "samp", "var", "svg", "math", "script", "style", "pre", "textarea", "object",
    "xmp", "iframe", "noembed", "noframes", "plaintext", "select",
}  # fmt: skip
"""Elements that nobody wants translated."""
KEPT_INLINE = {
    "code", "kbd", "samp", "var", "svg", "math", "select",
}  # fmt: skip
READ_ATTRIBUTES = ("title", "alt", "placeholder", "aria-label", "aria-description")
"""Attributes whose values are for people to read."""
READ_META = {
    "description", "keywords", "og:title", "og:description", "og:image:alt", "twitter:title",
    "twitter:description", "twitter:image:alt",
}  # fmt: skip
"""Names and properties of `<meta>` whose content people read."""
BUTTONS = {"button", "submit", "reset"}
"""Types of `<input>` that show their value."""

_REFERENCE = re.compile(r"&(#?\w+;?)(?=(.?))", re.S)


def html_parts(text: str, xhtml: bool = False) -> Iterator[Part]:
    """Reads a document or a part of one; in XHTML, `<name/>` has no content."""
    return _Reader(xhtml).run(text)


def _escaped(text: str, _: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


HTML = Syntax(read=html.unescape, write=_escaped)


def _read_value(value: str) -> str:
    """An attribute's value as text: there, `&copy=1` is no reference."""

    def resolved(match: re.Match[str]) -> str:
        name, after = match[1], match[2]
        if name.startswith("#") or (name.endswith(";") and name in html5):
            return html.unescape(match[0])
        known = name in html5 and not (after == "=" or after.isalnum())
        return html5[name] if known else match[0]

    return _REFERENCE.sub(resolved, value)


def _value_syntax(quote: str) -> Syntax:
    def write(text: str, _: str) -> str:
        escaped = _escaped(text, "")
        return escaped.replace('"', "&quot;") if quote == '"' else escaped.replace("'", "&#39;")

    return Syntax(read=_read_value, write=write)


class _Reader:
    """One pass over the tokens."""

    def __init__(self, xhtml: bool) -> None:
        self._xhtml = xhtml
        self._items: list[str | Mark] = []
        self._kept: list[str] = []  # tags and texts of an element that stays as it is
        self._kept_name = ""
        self._depth = 0

    def run(self, text: str) -> Iterator[Part]:
        for token in html_tokens(text, self._xhtml):
            if self._depth:
                yield from self._keep(token)
            elif token.kind in ("text", "other"):
                self._items.append(
                    token.raw
                    if token.kind == "text"
                    else Mark("point", (token.raw,), plain=token.raw)
                )
            elif token.kind == "raw":  # of a title: others are kept
                yield from self._flush()
                yield Block((token.raw,), HTML)
            else:
                yield from self._tag(token)
        yield from self._flush()
        yield "".join(self._kept)  # never closed: what follows it must not change places

    def _is_empty(self, token: Token) -> bool:
        """Whether a tag that begins an element is all of it."""
        return token.name in VOID or (
            token.closes_itself and (self._xhtml or token.name in ("svg", "math"))
        )

    def _tag(self, token: Token) -> Iterator[Part]:
        if token.kind == "start" and _stays(token):
            self._kept_name, self._kept, self._depth = token.name, [token.raw], 1
            if self._is_empty(token):
                yield from self._end_kept()
            return
        inline = token.name in INLINE
        raw = _tag_parts(token)
        if not inline:
            yield from self._flush()
            yield from raw
            return
        kind: Kind = "open" if token.kind == "start" else "close"
        if token.kind == "start" and self._is_empty(token):
            kind = "point"
        self._items.append(Mark(kind, raw, token.name, plain=token.raw))
        if kind == "close" and token.name == "sup":
            self._gather_note()

    def _gather_note(self) -> None:
        """Makes one mark of a footnote's number, which would only confuse the model."""
        for first in range(len(self._items) - 2, max(-1, len(self._items) - 8), -1):
            item = self._items[first]
            if isinstance(item, str):
                if any(map(str.isalpha, html.unescape(item))):
                    return
            elif item.kind == "open" and item.name == "sup":
                note = self._items[first:]
                parts = [(item,) if isinstance(item, str) else item.raw for item in note]
                plain = "".join(item if isinstance(item, str) else item.plain for item in note)
                raw = tuple(part for group in parts for part in group)
                self._items[first:] = [Mark("point", raw, plain=plain)]
                return

    def _keep(self, token: Token) -> Iterator[Part]:
        self._kept.append(token.raw)
        if token.name != self._kept_name or token.kind not in ("start", "end"):
            return
        if token.kind == "start":
            self._depth += not token.closes_itself
        else:
            self._depth -= 1
        if not self._depth:
            yield from self._end_kept()

    def _end_kept(self) -> Iterator[Part]:
        raw, name = "".join(self._kept), self._kept_name
        self._kept, self._depth = [], 0
        if name in INLINE or name in KEPT_INLINE:
            text = _words(raw)
            self._items.append(Mark("opaque" if text else "point", (raw,), name, text, plain=raw))
        else:
            yield from self._flush()
            yield raw

    def _flush(self) -> Iterator[Part]:
        items, self._items = self._items, []
        if items:
            yield Block(tuple(items), HTML)


def _stays(token: Token) -> bool:
    """Whether an element is kept as it is, content and attributes."""
    wish = token.get("translate")
    classes = (token.get("class") or "").split()
    if wish is not None and wish.strip().lower() == "no":
        return True
    return token.name in KEPT or "notranslate" in classes


def _words(raw: str) -> str:
    """What the model reads for a kept element: its text, on one line."""
    texts = (token.raw for token in html_tokens(raw) if token.kind == "text")
    return " ".join(html.unescape("".join(texts)).split())


def _tag_parts(token: Token) -> tuple[Part, ...]:
    """A tag with the values that are translated as blocks."""
    parts: list[Part] = []
    end = 0
    for attribute in token.attributes if token.kind == "start" else ():
        value = _value(token, attribute)
        if value is not None:
            parts += [token.raw[end : attribute.start], value]
            end = attribute.end
    return (*parts, token.raw[end:])


def _value(token: Token, attribute: Attribute) -> Part | None:
    """What becomes of an attribute's value; None where it stays."""
    if attribute.name in ("lang", "xml:lang") and attribute.value:
        return LanguageCode(attribute.value)
    if not attribute.quote or not attribute.value or not _is_read(token, attribute.name):
        return None
    return Block((attribute.value,), _value_syntax(attribute.quote))


def _is_read(token: Token, name: str) -> bool:
    if token.name == "meta":
        key = token.get("name") or token.get("property") or ""
        return name == "content" and key.strip().lower() in READ_META
    if token.name == "input" and name == "value":
        return (token.get("type") or "").strip().lower() in BUTTONS
    return name in READ_ATTRIBUTES
