"""Android's strings.xml: strings, arrays and plurals; names, escapes and protected parts stay."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sieve.documents.blocks import Block, Mark, Part, Syntax
from sieve.documents.formats import text_format
from sieve.documents.localization.messages import message
from sieve.documents.localization.text_values import is_text
from sieve.documents.markup.xml_tokens import escaped, unescaped
from sieve.documents.markup.xml_tree import Node, XmlReader

_XLIFF = {"urn:oasis:names:tc:xliff:document:1.2": "xliff"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.S)
_CONTROLS = {"n": "\n", "t": "\t"}
_END = r"\\n"


def _read(raw: str) -> str:
    text = unescaped(raw)
    if not text.lstrip().startswith('"'):
        text = re.sub(r"(?<!\\)\"", "", text)
    return _ESCAPE.sub(
        lambda match: chr(int(match[1], 16)) if match[1] else _CONTROLS.get(match[2], match[2]),
        text,
    )


def _write(text: str, _: str) -> str:
    text = text.replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"')
    text = text.replace("\n", "\\n").replace("\t", "\\t")
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return text.replace(">", "&gt;") if "]]>" in text else text


_ANDROID = Syntax(_read, _write)


def _start(text: str) -> str:
    """What would begin a reference is text."""
    return "\\" + text if text.startswith(("@", "?")) else text


def _string(_: XmlReader, node: Node) -> Iterator[Part]:
    inner = "".join(c if isinstance(c, str) else c.raw for c in node.children)
    shown = unescaped(re.sub(r"<[^!][^>]*>", " ", inner))
    kept = node.get("translatable") == "false" or inner.lstrip().startswith(("@", "?"))
    if kept or not is_text(shown.replace("\\n", " ").replace("\\'", "’"), (), True):
        yield node.raw
        return
    yield node.head
    yield from _content(node, inner)
    yield node.tail


def _content(node: Node, inner: str) -> Iterator[Part]:
    """The text of a string, without the white space or the quotes around it."""
    if not node.elements():
        section = re.fullmatch(r"(\s*<!\[CDATA\[)(.*)(\]\]>\s*)", inner, re.S)
        lead, body, tail = section.groups() if section else ("", inner, "")
        quoted = re.fullmatch(r'(\s*")((?:[^"\\]|\\.)*)("\s*)', body, re.S)
        if quoted:
            lead, body, tail = lead + quoted[1], quoted[2], quoted[3] + tail
        yield lead
        yield message(body, _SECTION if section else _ANDROID, _END, _start)
        yield tail
        return
    yield Block(tuple(_items(node)), _ANDROID, _start)


def _items(node: Node) -> Iterator[str | Mark]:
    for number, child in enumerate(node.children):
        if isinstance(child, str):
            yield from message(child, _ANDROID, _END).items
        elif child.name == "xliff:g" or not child.children:
            words = "".join(part for part in child.children if isinstance(part, str))
            yield Mark("opaque" if words else "point", (child.raw,), "", words, plain=child.raw)
        else:
            name = f"{child.name} {number}"
            yield Mark("open", (child.head,), name, plain=child.head)
            yield from _items(child)
            yield Mark("close", (child.tail,), name, plain=child.tail)


def _write_section(text: str, _: str) -> str:
    text = text.replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"')
    return text.replace("]]>", "]] >")


_SECTION = Syntax(
    lambda raw: _ESCAPE.sub(lambda match: match[2] or escaped(match[0]), raw), _write_section
)


def _items_of(reader: XmlReader, node: Node) -> Iterator[Part]:
    """An array or the forms of a plural."""
    if node.get("translatable") == "false":
        yield node.raw
        return
    yield node.head
    for child in node.children:
        if isinstance(child, str):
            yield child
        else:
            yield from _string(reader, child)
    yield node.tail


_READER = XmlReader(_XLIFF, {"string": _string, "string-array": _items_of, "plurals": _items_of})

ANDROID = text_format(
    "android",
    (".xml",),
    "application/xml",
    lambda text: _READER.read([text]),
    lambda head: b"<resources" in head,
)
