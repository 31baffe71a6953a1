"""OpenDocument texts, presentations and spreadsheets: paragraphs with tags inside, as in HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sieve.documents.blocks import Block, Kind, Mark, Part
from sieve.documents.formats import DamagedError
from sieve.documents.markup.xml_tokens import unescaped
from sieve.documents.markup.xml_tree import XML, Handler, Node, XmlReader, joined, text_element
from sieve.documents.office.packages import Package, Reader, package_format

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_NAMESPACES = {
    f"{_OASIS}{path}:1.0": name
    for path, name in (
        ("text", "text"), ("table", "table"), ("office", "office"), ("drawing", "draw"),
        ("svg-compatible", "svg"), ("presentation", "presentation"),
    )
}  # fmt: skip
_NAMESPACES["http://purl.org/dc/elements/1.1/"] = "dc"

_CONTAINERS = {"text:span", "text:a", "text:meta", "text:ruby", "text:ruby-base"}
_SEPARATORS = {"text:tab", "text:line-break", "text:s"}
_DROPPED = {"text:soft-page-break"}
_NOTES = {"text:note", "office:annotation"}
_STARTS = {"text:bookmark-start", "text:reference-mark-start"}
_ENDS = {"text:bookmark-end", "text:reference-mark-end"}


class _Gatherer:
    """Goes through a paragraph and gathers its texts and marks."""

    def __init__(self, reader: XmlReader) -> None:
        self._reader = reader
        self.items: list[str | Mark] = []

    def take(self, children: Sequence[Node | str]) -> None:
        """Goes through what is in a paragraph or in a tag of it."""
        for child in children:
            if isinstance(child, str):
                self.items.append(child)
            elif child.name in _CONTAINERS and child.tail:
                name = f"{child.name} {len(self.items)}"
                self.items.append(Mark("open", (child.head,), name))
                self.take(child.children)
                self.items.append(Mark("close", (child.tail,), name))
            elif child.name == "text:s" and (child.get("c") or "1") == "1":
                self.items.append(" ")  # the second of two spaces, or one that must not be lost
            elif child.name not in _DROPPED:
                self._mark(child)

    def _mark(self, node: Node) -> None:
        raw = self._reader.parts_of(node)
        kind: Kind = "point"
        name = text = ""
        if node.name in _STARTS | _ENDS:
            kind = "open" if node.name in _STARTS else "close"
            name = f"{node.name.rpartition('-')[0]} {node.get('name')}"
        elif node.name in _NOTES:
            kind, name = "close", f"note {len(self.items)}"
        elif node.name in _SEPARATORS:
            kind = "break"
        elif node.name.startswith("text:") and not node.elements():  # a field
            text = " ".join(unescaped("".join(map(str, node.children))).split())
            kind = "opaque" if text else "point"
        self.items.append(Mark(kind, raw, name, text))


def _paragraph(reader: XmlReader, node: Node) -> Iterator[Part]:
    gatherer = _Gatherer(reader)
    gatherer.take(node.children)
    texts = [item for item in gatherer.items if isinstance(item, str)]
    if not any(map(str.isalpha, unescaped("".join(texts)))):
        yield from reader.inside(node)
        return
    yield node.head
    yield Block(tuple(gatherer.items), XML, original=joined(reader.parts_of_all(node.children)))
    yield node.tail


def _cell(reader: XmlReader, node: Node) -> Iterator[Part]:
    """A cell: what shows a number, a date or the result of a formula stays."""
    kind = node.get("value-type")
    if (kind is not None and kind != "string") or node.get("formula") or node.get("string-value"):
        yield node.raw
    else:
        yield from reader.inside(node)


def _kept(reader: XmlReader, node: Node) -> Iterator[Part]:
    yield node.raw


_HANDLERS: Mapping[str, Handler] = {
    "text:p": _paragraph,
    "text:h": _paragraph,
    "table:table-cell": _cell,
    "table:covered-table-cell": _cell,
    "text:tracked-changes": _kept,
    "svg:title": text_element,
    "svg:desc": text_element,
    "dc:title": text_element,
    "dc:subject": text_element,
    "dc:description": text_element,
}
_READER = XmlReader(_NAMESPACES, _HANDLERS)


def _readers(package: Package) -> Mapping[str, Reader]:
    if "encryption-data" in package.text("META-INF/manifest.xml"):
        raise DamagedError("is encrypted; save it without a password")
    return {
        name: _READER.read
        for name in package.names
        if name.rpartition("/")[2] in ("content.xml", "styles.xml", "meta.xml")
    }


_TYPE = "application/vnd.oasis.opendocument."
ODT = package_format("odt", (".odt", ".ott"), f"{_TYPE}text", _readers)
ODP = package_format("odp", (".odp", ".otp"), f"{_TYPE}presentation", _readers)
ODS = package_format("ods", (".ods", ".ots"), f"{_TYPE}spreadsheet", _readers)
