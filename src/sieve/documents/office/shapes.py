"""Text in drawings, charts and diagrams of Office documents: paragraphs of runs in shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sieve.documents.blocks import Part
from sieve.documents.markup.xml_tree import Handler, Node, XmlReader, with_attributes
from sieve.documents.office.ooxml import OFFICE
from sieve.documents.office.styled_runs import RunNames, paragraph

_UNSEEN = re.compile(
    r"\s(?:lang|altLang|dirty|err|smtClean|noProof|bmk)\s*=\s*(?:\"[^\"]*\"|'[^']*')"
)
_EMPTY = re.compile(r"<([^\s/>]+)(?:\s*/>|></\1>)")
_HEAD = re.compile(r"<[^<>]*>")


def _clean(look: str) -> str:
    look = _HEAD.sub(lambda match: _UNSEEN.sub("", match[0]), look, count=1)
    return "" if _EMPTY.fullmatch(look) else look


_RUNS = RunNames(
    run="a:r",
    look="a:rPr",
    text="a:t",
    preludes=frozenset({"a:pPr"}),
    clean=_clean,
    separators=frozenset({"a:br"}),
    kept=frozenset({"a:fld"}),
)


def _paragraph(reader: XmlReader, node: Node) -> Iterator[Part]:
    return paragraph(_RUNS, reader, node)


def described(reader: XmlReader, node: Node) -> Iterator[Part]:
    """A picture's element with the texts that are read in its place."""
    yield from with_attributes(node.head, ("descr", "title"))
    yield from reader.parts_of_all(node.children)
    yield node.tail


DRAWING_HANDLERS: Mapping[str, Handler] = {
    "a:p": _paragraph,
    "p:cNvPr": described,
    "wp:docPr": described,
    "xdr:cNvPr": described,
}
"""Elements of drawings, wherever they are."""
DRAWING = XmlReader(OFFICE, DRAWING_HANDLERS)
"""Reads parts that hold nothing else: charts, diagrams, drawings of a sheet."""
DRAWING_TYPE = re.compile(
    r"application/vnd\.openxmlformats-officedocument\."
    r"(?:drawing|drawingml\.(?:chart|chartshapes|diagramData))\+xml"
    r"|application/vnd\.ms-office\.drawingml\.diagramDrawing\+xml"
)
