"""Books: chapters, table of contents and title; what the book's package names as XHTML is read."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from sieve.documents.blocks import LanguageCode, Part
from sieve.documents.formats import DamagedError
from sieve.documents.markup.html_blocks import html_parts
from sieve.documents.markup.xml_tokens import MOST_CHARACTERS, attributes
from sieve.documents.markup.xml_tree import Node, XmlReader, text_element
from sieve.documents.office.packages import Package, Reader, package_format

_NAMESPACES = {
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://www.daisy.org/z3986/2005/ncx/": "ncx",
}
_TAG = re.compile(r"<(?:\w+:)?(rootfile|item|CipherReference)\b[^<>]*>")


def _language(reader: XmlReader, node: Node) -> Iterator[Part]:
    yield node.head
    for child in node.children:
        yield LanguageCode(child) if isinstance(child, str) else child.raw
    yield node.tail


_BOOK = XmlReader(
    _NAMESPACES,
    {"dc:title": text_element, "dc:description": text_element, "dc:language": _language},
)
_CONTENTS = XmlReader(_NAMESPACES, {"ncx:text": text_element})


def _chapter(chunks: Iterable[str]) -> Iterator[Part]:
    pieces, size = [], 0
    for chunk in chunks:
        pieces.append(chunk)
        size += len(chunk)
        if size > MOST_CHARACTERS:
            raise DamagedError(f"is larger than {MOST_CHARACTERS >> 20} MiB")
    return html_parts("".join(pieces), xhtml=True)


def _tags(text: str, name: str) -> list[dict[str, str]]:
    return [attributes(match[0]) for match in _TAG.finditer(text) if match[1] == name]


def _readers(package: Package) -> Mapping[str, Reader]:
    readers: dict[str, Reader] = {}
    for root in _tags(package.text("META-INF/container.xml"), "rootfile"):
        path = root.get("full-path", "")
        readers[path] = _BOOK.read
        for item in _tags(package.text(path), "item"):
            href = unquote(item.get("href", "").partition("#")[0])
            name = posixpath.normpath(posixpath.join(posixpath.dirname(path), href))
            kind = item.get("media-type", "")
            if kind == "application/xhtml+xml":
                readers[name] = _chapter
            elif kind == "application/x-dtbncx+xml":
                readers[name] = _CONTENTS.read
    locked = _tags(package.text("META-INF/encryption.xml"), "CipherReference")
    if any(unquote(each.get("URI", "")) in readers for each in locked):
        raise DamagedError("is protected against copying")
    return readers


EPUB = package_format("epub", (".epub",), "application/epub+zip", _readers)
