"""Presentations: slides, their notes and comments; of masters and layouts only what slides show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sieve.documents.blocks import Part
from sieve.documents.markup.xml_tree import Node, XmlReader, text_element
from sieve.documents.office.ooxml import OFFICE, PROPERTIES, PROPERTIES_TYPE
from sieve.documents.office.packages import Package, Reader, package_format
from sieve.documents.office.shapes import DRAWING, DRAWING_HANDLERS, DRAWING_TYPE

_TYPE = re.compile(
    r"application/vnd\.openxmlformats-officedocument\.presentationml\.(?:slide|notesSlide|comments)"
    r"\+xml|application/vnd\.ms-powerpoint\.comments\+xml"
)
_MASTER_TYPE = re.compile(
    r"application/vnd\.openxmlformats-officedocument\.presentationml\.(?:slideMaster|slideLayout)\+xml"
)


def _shape(reader: XmlReader, node: Node) -> Iterator[Part]:
    """A shape of a master: what stands in a placeholder is for those who edit."""
    if any(inside.name == "p:ph" for inside in node.walk()):
        yield node.raw
    else:
        yield from reader.inside(node)


_SLIDE = XmlReader(OFFICE, {**DRAWING_HANDLERS, "p:text": text_element})
_MASTER = XmlReader(OFFICE, {**DRAWING_HANDLERS, "p:sp": _shape})


def _readers(package: Package) -> Mapping[str, Reader]:
    return package.by_type(
        {
            _TYPE: _SLIDE,
            _MASTER_TYPE: _MASTER,
            DRAWING_TYPE: DRAWING,
            PROPERTIES_TYPE: PROPERTIES,
        }
    )


PPTX = package_format(
    "pptx",
    (".pptx", ".pptm", ".potx", ".potm", ".ppsx", ".ppsm"),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    _readers,
)
