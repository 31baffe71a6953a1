"""The text of PDF files, which cannot be put back in place: paragraphs out, to text or Word.

A PDF knows characters on a page, no paragraphs: these are guessed from the lines.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from sieve.documents.blocks import Block, Member, Piece
from sieve.documents.formats import MOST_TEXT, DamagedError, Format, write_text
from sieve.documents.markup.xml_tokens import escaped
from sieve.documents.texts.plain import PLAIN
from sieve.errors import require

_END = re.compile(r"[.!?:…。！？][\"'”’»)\]]*$")
_ITEM = re.compile(r"[•▪◦‣·*–—-]\s|\(?\d{1,3}[.)]\s|[a-z]\)\s")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]$")
_SHORT = 0.75
"""A line of less than this of the widest ends a paragraph, if it ends a sentence."""

_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships'
    '+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_LINKS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships/officeDocument" Target="word/document.xml"/></Relationships>'
)
_HEAD = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
)
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_BETWEEN = "\n\n"


def _read(source: IO[bytes]) -> Iterator[Piece]:
    data = source.read(MOST_TEXT + 1)
    if len(data) > MOST_TEXT:
        raise DamagedError(f"is larger than {MOST_TEXT >> 20} MiB; split it")
    yield Member()
    empty = True
    for lines in _pages(data):
        for paragraph in paragraphs(lines):
            empty = False
            yield Block((paragraph,), PLAIN)
            yield _BETWEEN
    if empty:
        raise DamagedError("holds no text; scanned pages must be read by an OCR program first")


def _pages(data: bytes) -> Iterator[list[str]]:
    """The lines of each page."""
    pypdf: Any = require("pypdf", "documents", "reading PDF")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DamagedError("is encrypted; save it without a password")
        for page in reader.pages:
            yield page.extract_text().splitlines()
    except DamagedError:
        raise
    except Exception as error:  # whatever a parser of broken files may raise
        raise DamagedError(f"is no readable PDF: {' '.join(str(error).split())}") from None


def paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Paragraphs of a page, each on one line; words cut at the end of a line are whole again."""
    widest = max((len(line.rstrip()) for line in lines), default=0)
    text = ""
    for line in (line.strip() for line in lines):
        if text and (not line or _ITEM.match(line)):
            yield text
            text = ""
        if not line:
            continue
        cut = _HYPHEN.search(text)
        if cut and line[0].islower():
            text = text[: cut.start()] + line
        else:
            text = f"{text} {line}" if text else line
        if _END.search(line) and len(line) < _SHORT * widest:
            yield text
            text = ""
    if text:
        yield text


def _write_docx(pieces: Iterable[str | Member], target: IO[bytes]) -> None:
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _XML + _TYPES)
        archive.writestr("_rels/.rels", _XML + _LINKS)
        with archive.open("word/document.xml", "w") as out:
            out.write((_XML + _HEAD).encode())
            for piece in pieces:
                if isinstance(piece, str) and piece != _BETWEEN:
                    text = f'<w:t xml:space="preserve">{escaped(piece)}</w:t>'
                    out.write(f"<w:p><w:r>{text}</w:r></w:p>".encode(errors="replace"))
            out.write(b"</w:body></w:document>")


PDF = Format(
    "pdf",
    (".pdf",),
    "application/pdf",
    _read,
    write_text,
    others={".docx": _write_docx, ".txt": write_text},
)
"""Becomes text, or Word where the output is named so."""
