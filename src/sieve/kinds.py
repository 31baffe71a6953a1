"""What bytes are, by their content: text in some encoding, or a kind of file that is none.

A name is never asked. Knows no reader: whoever has one for a kind asks `kind_of` for its key.
"""

import codecs
import re
from dataclasses import dataclass

from sieve.errors import InputError

HEAD = 4096
"""Bytes from the start of a file that suffice to recognise it."""


@dataclass(frozen=True)
class Kind:
    """A kind of file that is not plain text."""

    key: str
    """Short and stable: `gzip`, `docx`, `pdf`, `utf-16le`, `binary`."""
    description: str
    """With its article: "a PDF document"."""
    advice: str
    """What to do with it."""


_DECOMPRESS = "decompress it first, for example with {}"
_EXTRACT = "extract the text first, for example with {}"
_SAVE_AS = "save it as plain text or HTML first"
_SAVE_NEW = "save it as docx, xlsx or pptx, without a password"
_NOT_TEXT = "give text in UTF-8"


def _compressed(key: str, tool: str) -> Kind:
    return Kind(key, f"{key}-compressed data", _DECOMPRESS.format(tool))


def _image(key: str, name: str) -> Kind:
    return Kind(key, f"a {name} image", _NOT_TEXT)


def _archive(key: str, name: str) -> Kind:
    return Kind(key, f"a {name} archive", "unpack it and give the text files in it")


_STARTS: tuple[tuple[bytes, Kind], ...] = (
    (b"\x1f\x8b", _compressed("gzip", "gzip -dc")),
    (b"\xfd7zXZ\x00", _compressed("xz", "xz -dc")),
    (b"\x28\xb5\x2f\xfd", _compressed("zstd", "zstd -dc")),
    (b"7z\xbc\xaf\x27\x1c", _archive("7z", "7-Zip")),
    (b"Rar!\x1a\x07", _archive("rar", "RAR")),
    (b"%PDF-", Kind("pdf", "a PDF document", _EXTRACT.format("pdftotext"))),
    (b"{\\rtf", Kind("rtf", "an RTF document", _SAVE_AS)),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        Kind("office", "an Office document that is encrypted or from before 2007", _SAVE_NEW),
    ),
    (b"\x89PNG\r\n\x1a\n", _image("png", "PNG")),
    (b"\xff\xd8\xff", _image("jpeg", "JPEG")),
    (b"GIF87a", _image("gif", "GIF")),
    (b"GIF89a", _image("gif", "GIF")),
    (b"II*\x00", _image("tiff", "TIFF")),
    (b"MM\x00*", _image("tiff", "TIFF")),
    (b"\x7fELF", Kind("elf", "a program", _NOT_TEXT)),
    (b"MZ\x90\x00", Kind("exe", "a Windows program", _NOT_TEXT)),
    (b"SQLite format 3\x00", Kind("sqlite", "an SQLite database", _NOT_TEXT)),
    (b"ID3\x03", Kind("mp3", "an MP3 recording", _NOT_TEXT)),
    (b"ID3\x04", Kind("mp3", "an MP3 recording", _NOT_TEXT)),
    (b"OggS\x00", Kind("ogg", "an Ogg recording", _NOT_TEXT)),
    (b"fLaC\x00", Kind("flac", "a FLAC recording", _NOT_TEXT)),
)
_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_PARTS = (  # at a place behind the start
    (8, b"WEBP", b"RIFF", _image("webp", "WebP")),
    (8, b"WAVE", b"RIFF", Kind("wav", "a WAV recording", _NOT_TEXT)),
    (6, b"\x00\x00\x00\x00", b"BM", _image("bmp", "BMP")),
    (4, b"ftyp", b"\x00\x00", Kind("mp4", "an MP4 film or recording", _NOT_TEXT)),
    (257, b"ustar", b"", _archive("tar", "tar")),
)
_ZIPPED = (
    (b"mimetypeapplication/vnd.oasis.opendocument.", "odt", "an OpenDocument file"),
    (b"mimetypeapplication/epub+zip", "epub", "an EPUB book"),
    (b"word/", "docx", "a Word document (docx)"),
    (b"xl/", "xlsx", "an Excel workbook (xlsx)"),
    (b"ppt/", "pptx", "a PowerPoint presentation (pptx)"),
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ESCAPE = 27  # as terminals' colours begin
_CONTROLS = bytes(set(range(32)) - {*b"\b\t\n\v\f\r", _ESCAPE})
_FEWEST = 8  # bytes that say anything about how common control characters are


def text_encoding(head: bytes) -> str:
    """The encoding that a byte order mark names, else `utf-8`.

    Args:
        head: The first bytes of a file.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    return "utf-8"


def kind_of(head: bytes) -> Kind | None:
    """The kind of file that bytes are, None for text; text of another encoding is a kind.

    Args:
        head: The first bytes of a file, `HEAD` of them where there are as many. A zip archive is
            told from a document in zip by the names in it, so more bytes help there.
    """
    if text_encoding(head) != "utf-8":
        return None
    return _by_signature(head) or _by_bytes(head)


def refuse(head: bytes, where: str) -> None:
    """Raises one line that says what the bytes are and what to do, unless they are text.

    Args:
        head: As of `kind_of`.
        where: Begins the line, a file's name or "standard input".
    """
    kind = kind_of(head)
    if kind is not None:
        raise InputError(f"{where}: is {kind.description}, expected text; {kind.advice}")


def _by_signature(head: bytes) -> Kind | None:
    for start, kind in _STARTS:
        if head.startswith(start):
            return kind
    if _BZIP2.match(head):
        return _compressed("bzip2", "bzip2 -dc")
    for place, part, start, kind in _PARTS:
        if head.startswith(start) and head[place : place + len(part)] == part:
            return kind
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        for name, key, description in _ZIPPED:
            if name in head:
                return Kind(key, description, _SAVE_AS)
        return _archive("zip", "zip")
    return None


def _by_bytes(head: bytes) -> Kind | None:
    """Text in UTF-16 without a mark, and bytes that are no text in any encoding."""
    if len(head) < _FEWEST:
        return None
    for key, first in (("utf-16le", 1), ("utf-16be", 0)):
        high = head[first::2]
        if sum(byte <= 6 for byte in high) >= 0.8 * len(high) and _decodes(head, key):
            advice = f"convert it: iconv -f {key.upper()} -t UTF-8"
            return Kind(key, "UTF-16 text without a byte order mark", advice)
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls > 0.05 * len(head):
        return Kind("binary", "binary data", _NOT_TEXT)
    return None


def _decodes(head: bytes, encoding: str) -> bool:
    text = head[: len(head) // 2 * 2].decode(encoding, errors="replace")
    letters = sum(character.isalpha() or character.isspace() for character in text)
    return letters > 0.6 * len(text)
