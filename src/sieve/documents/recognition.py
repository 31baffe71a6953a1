"""Every format by its name, and which of them a file is: by its content, then by its name.

The one place that knows all formats by name.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import IO

from sieve.documents.formats import Format, text_format
from sieve.documents.markup.html_blocks import html_parts
from sieve.documents.markup.markdown_blocks import markdown_parts
from sieve.documents.office import packages
from sieve.documents.office.docx import DOCX
from sieve.documents.texts.plain import text_parts
from sieve.errors import ConfigError, InputError

FORMATS = {
    format.name: format
    for format in (
        text_format("html", (".html", ".htm", ".xhtml"), "text/html", html_parts),
        text_format("markdown", (".md", ".markdown"), "text/markdown", markdown_parts),
        text_format("text", (), "text/plain", text_parts),
        DOCX,
    )
}
"""Formats by name. To add one: docs/documents.md."""

_HEAD = 4096
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = b"PK\x03\x04"


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
    head = source.read(_HEAD)
    source.seek(0)
    place = f"{name}: " if name else ""
    if head.startswith(_OLD_OFFICE):
        raise InputError(
            f"{place}got an Office file that is encrypted or from before 2007; "
            "save it without a password as docx, xlsx or pptx"
        )
    if head.startswith(_ZIP):
        return FORMATS.get(packages.kind(source))
    suffix = PurePath(name).suffix.lower()
    return next(
        (kind for kind in FORMATS.values() if suffix in kind.suffixes and kind.fits(head)), None
    )
