"""Apple's .strings and .stringsdict: values, forms of plurals; keys and comments stay."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sieve.documents.blocks import Part, Syntax
from sieve.documents.formats import DamagedError, text_format
from sieve.documents.localization.messages import LINE_END, message
from sieve.documents.markup.xml_tree import XML, Node, XmlReader

_STRING = r'"(?:[^"\\]|\\.)*"'
_ENTRY = re.compile(
    rf"(?P<skip>\s+|/\*.*?\*/|//[^\n]*)"
    rf'|(?P<head>(?:{_STRING}|[\w.$/:-]+)\s*=\s*)"(?P<value>(?:[^"\\]|\\.)*)"(?P<tail>\s*;)'
    rf"|(?P<other>(?:{_STRING}|[\w.$/:-]+)\s*(?:=\s*[\w.$/:-]+\s*)?;)",
    re.S,
)
_ESCAPE = re.compile(r"\\(?:U([0-9a-fA-F]{4})|(.))", re.S)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}
_FORMS = {"zero", "one", "two", "few", "many", "other", "NSStringLocalizedFormatKey"}
_END = rf"\\n|{LINE_END}"


def strings_parts(text: str) -> Iterator[Part]:
    """Reads a document."""
    place = 0
    while place < len(text):
        match = _ENTRY.match(text, place)
        if match is None:
            line = text[place:].lstrip().split("\n", 1)[0][:40]
            number = text.count("\n", 0, place) + 1
            raise DamagedError(f'line {number}: got {line}, expected "key" = "value";')
        if match["value"]:
            yield match["head"] + '"'
            yield message(match["value"], _STRINGS, _END)
            yield '"' + match["tail"]
        else:
            yield match[0]
        place = match.end()


def _read(raw: str) -> str:
    return _ESCAPE.sub(
        lambda match: chr(int(match[1], 16)) if match[1] else _CONTROLS.get(match[2], match[2]), raw
    )


def _write(text: str, _: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return text.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


_STRINGS = Syntax(_read, _write)


def _dictionary(reader: XmlReader, node: Node) -> Iterator[Part]:
    """A `<dict>`: the strings whose keys are forms of a plural."""
    yield node.head
    key = ""
    for child in node.children:
        if isinstance(child, str):
            yield child
            continue
        inside = "".join(part for part in child.children if isinstance(part, str))
        if child.name == "string" and key in _FORMS and inside.strip():
            yield child.head
            yield message(inside, XML, LINE_END)
            yield child.tail
        else:
            yield from reader.parts_of(child)
        key = inside.strip() if child.name == "key" else ""
    yield node.tail


_READER = XmlReader({}, {"dict": _dictionary})

STRINGS = text_format("strings", (".strings",), "text/x-apple-strings", strings_parts)
STRINGSDICT = text_format(
    "stringsdict", (".stringsdict",), "application/xml", lambda text: _READER.read([text])
)
