"""Every format by its name, and which of them a file is: by its content, then by its name.

The one place that knows all formats by name.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import IO

from sieve.documents.formats import DamagedError, Format, text_format
from sieve.documents.localization.android import ANDROID
from sieve.documents.localization.apple_strings import STRINGS, STRINGSDICT
from sieve.documents.localization.json_values import JSON
from sieve.documents.localization.po import PO
from sieve.documents.localization.properties import PROPERTIES
from sieve.documents.localization.resx import RESX
from sieve.documents.localization.xliff import XLIFF
from sieve.documents.localization.yaml_values import YAML
from sieve.documents.markup.html_blocks import html_parts
from sieve.documents.markup.latex_blocks import LATEX
from sieve.documents.markup.markdown_blocks import markdown_parts
from sieve.documents.markup.rst_blocks import RST
from sieve.documents.office import packages
from sieve.documents.office.docx import DOCX
from sieve.documents.office.epub import EPUB
from sieve.documents.office.odf import ODP, ODS, ODT
from sieve.documents.office.pptx import PPTX
from sieve.documents.office.xlsx import XLSX
from sieve.documents.pdf import PDF
from sieve.documents.subtitles.cues import SRT, VTT
from sieve.documents.texts.delimited import CSV, TSV
from sieve.documents.texts.plain import text_parts
from sieve.documents.texts.wrapped import WRAPPED_TEXT
from sieve.errors import ConfigError, InputError
from sieve.kinds import HEAD, refuse

FORMATS = {
    format.name: format
    for format in (
        text_format("html", (".html", ".htm", ".xhtml"), "text/html", html_parts),
        text_format("markdown", (".md", ".markdown"), "text/markdown", markdown_parts),
        LATEX,
        RST,
        text_format("text", (), "text/plain", text_parts),
        DOCX,
        PPTX,
        XLSX,
        ODT,
        ODP,
        ODS,
        EPUB,
        PDF,
        SRT,
        VTT,
        PO,
        XLIFF,
        JSON,
        YAML,
        PROPERTIES,
        ANDROID,
        STRINGS,
        STRINGSDICT,
        RESX,
        CSV,
        TSV,
        WRAPPED_TEXT,
    )
}
"""Formats by name. To add one: docs/documents.md."""

_ZIP = b"PK\x03\x04"
_PDF = b"%PDF-"


def named(name: str) -> Format:
    """The format of this name."""
    if name not in FORMATS:
        raise ConfigError(f"format: got '{name}', expected one of {', '.join(FORMATS)}")
    return FORMATS[name]


def recognised(source: IO[bytes], name: str = "", format: str | None = None) -> Format:
    """The format of a file.

    Args:
        source: The file, which can be rewound.
        name: Its name.
        format: What the user says it is.
    """
    if format is not None:
        return named(format)
    kind = guessed(source, name)
    if kind is None:
        known = ", ".join(FORMATS)
        place = f"{name}: " if name else ""
        raise InputError(f"{place}format not recognised; give one of {known}")
    return kind


def guessed(source: IO[bytes], name: str = "") -> Format | None:
    """The format of a file as far as its content and name tell."""
    head = source.read(HEAD)
    source.seek(0)
    if head.startswith(_ZIP):
        try:
            package = packages.kind(source)
        except DamagedError as error:
            raise InputError(f"{name}: {error}" if name else str(error)) from None
        if package in FORMATS:
            return FORMATS[package]
    if head.startswith(_PDF):
        return PDF
    refuse(head, name or "the document")
    suffix = PurePath(name).suffix.lower()
    return next(
        (kind for kind in FORMATS.values() if suffix in kind.suffixes and kind.fits(head)), None
    )
