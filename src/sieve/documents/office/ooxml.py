"""What Office documents share: their namespaces in both editions of the standard, their titles."""

from __future__ import annotations

import re

from sieve.documents.markup.xml_tree import XmlReader, text_element

_TRANSITIONAL = "http://schemas.openxmlformats.org/"
_STRICT = "http://purl.oclc.org/ooxml/"
_BOTH = {
    "w": ("wordprocessingml/2006/main", "wordprocessingml/main"),
    "wp": ("drawingml/2006/wordprocessingDrawing", "drawingml/wordprocessingDrawing"),
    "a": ("drawingml/2006/main", "drawingml/main"),
    "c": ("drawingml/2006/chart", "drawingml/chart"),
    "xdr": ("drawingml/2006/spreadsheetDrawing", "drawingml/spreadsheetDrawing"),
    "p": ("presentationml/2006/main", "presentationml/main"),
    "x": ("spreadsheetml/2006/main", "spreadsheetml/main"),
    "m": ("officeDocument/2006/math", "officeDocument/math"),
}
OFFICE = {
    prefix + path: name
    for name, paths in _BOTH.items()
    for prefix, path in zip((_TRANSITIONAL, _STRICT), paths, strict=True)
}
"""Short names by namespace."""
OFFICE["http://purl.org/dc/elements/1.1/"] = "dc"

PROPERTIES = XmlReader(
    OFFICE,
    {"dc:title": text_element, "dc:subject": text_element, "dc:description": text_element},
)
"""Reads the title of a document and what it says of itself."""
PROPERTIES_TYPE = re.compile(r"application/vnd\.openxmlformats-package\.core-properties\+xml")
