"""What bytes are: each kind from the bytes that a real tool writes, and text of many kinds."""

import bz2
import codecs
import gzip
import io
import lzma
import random
import tarfile
import wave
import zipfile

import pytest

from sieve.errors import InputError
from sieve.kinds import HEAD, kind_of, refuse, text_encoding

TEXT = "Guten Morgen, Jörg! Wie geht es dir heute?\n" * 40


def zipped(*names: str, first: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        if first:
            archive.writestr("mimetype", first)
        for name in names:
            archive.writestr(name, TEXT)
    return buffer.getvalue()


def tarred() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("a.txt")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"abc"))
    return buffer.getvalue()


def sound() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(100))
    return buffer.getvalue()


KINDS = [
    ("gzip", gzip.compress(TEXT.encode())),
    ("bzip2", bz2.compress(TEXT.encode())),
    ("xz", lzma.compress(TEXT.encode())),
    ("zip", zipped("a.txt")),
    ("zip", zipped()),
    ("docx", zipped("[Content_Types].xml", "word/document.xml")),
    ("xlsx", zipped("[Content_Types].xml", "xl/workbook.xml")),
    ("pptx", zipped("[Content_Types].xml", "ppt/presentation.xml")),
    ("odt", zipped(first=b"application/vnd.oasis.opendocument.text")),
    ("epub", zipped(first=b"application/epub+zip")),
    ("tar", tarred()),
    ("wav", sound()),
    ("pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"),
    ("rtf", b"{\\rtf1\\ansi Hallo}"),
    ("png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
    ("jpeg", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00"),
    ("gif", b"GIF89a\x01\x00\x01\x00"),
    ("webp", b"RIFF\x24\x00\x00\x00WEBPVP8 "),
    ("utf-16le", TEXT.encode("utf-16-le")),
    ("utf-16be", TEXT.encode("utf-16-be")),
    ("utf-16le", ("Привет, как дела?\n" * 9).encode("utf-16-le")),
    ("binary", random.Random(3).randbytes(HEAD)),
    ("binary", bytes(100)),
]


@pytest.mark.parametrize(("key", "data"), KINDS)
def test_what_is_no_text_is_named(key: str, data: bytes) -> None:
    kind = kind_of(data[:HEAD])
    assert kind is not None and kind.key == key


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"a",
        b"\xff",
        TEXT.encode(),
        TEXT.encode("latin-1"),
        "东京和首尔\n".encode() * 9,
        "Привет, как дела?".encode("cp1251"),
        b"BMW and MZ and PK are names, Rar is not; BZh is nothing.",
        b"a line\x00with one odd byte, but text all the same, as a log may have it",
        b"\x1b[31mred\x1b[0m\ttabs\r\n\x0c",
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("utf-16"),
        TEXT.encode("utf-32"),
    ],
)
def test_text_is_text(data: bytes) -> None:
    assert kind_of(data[:HEAD]) is None


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-8"])
def test_a_mark_names_the_encoding(encoding: str) -> None:
    data = TEXT.encode(encoding)
    assert text_encoding(data[:HEAD]) == encoding
    assert data.decode(text_encoding(data)) == TEXT
    assert text_encoding(codecs.BOM_UTF16_BE + "a".encode("utf-16-be")) == "utf-16"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            gzip.compress(b"text"),
            "x: is gzip-compressed data, expected text; "
            "decompress it first, for example with gzip -dc",
        ),
        (
            TEXT.encode("utf-16-le"),
            "x: is UTF-16 text without a byte order mark, expected text; "
            "convert it: iconv -f UTF-16LE -t UTF-8",
        ),
        (bytes(99), "x: is binary data, expected text; give text in UTF-8"),
    ],
)
def test_the_line_says_what_it_is_and_what_to_do(data: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        refuse(data, "x")
    assert str(caught.value) == message
