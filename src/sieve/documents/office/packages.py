"""Packages: ZIP archives of parts, of which some are XML with text and the rest is copied.

Nothing is unpacked to a disk or read whole; what is larger than any real document is refused.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import IO, TypeAlias
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, LargeZipFile, ZipFile, ZipInfo

from sieve.documents.blocks import Member, Part, Piece
from sieve.documents.formats import DamagedError, Format
from sieve.documents.markup.xml_tokens import attributes
from sieve.documents.markup.xml_tree import XmlReader

MOST_MEMBERS = 20_000
MOST_BYTES = 1 << 30
"""Of all parts, unpacked."""
_SMALL = 4 << 20
_CHUNK = 1 << 16
_KIND = re.compile(
    r'ContentType\s*=\s*["\']application/vnd\.(?:openxmlformats-officedocument\.|ms-)'
    r'(wordprocessingml|word|presentationml|powerpoint|spreadsheetml|excel)\.[\w.\-]*main\+xml["\']'
)
_KINDS = {"wordprocessingml": "docx", "word": "docx", "presentationml": "pptx",
          "powerpoint": "pptx", "spreadsheetml": "xlsx", "excel": "xlsx"}  # fmt: skip
_MIME_KINDS = {"text": "odt", "presentation": "odp", "spreadsheet": "ods"}
_OVERRIDE = re.compile(r"<(?:\w+:)?Override\b[^<>]*>")
_ENCODING = re.compile(r"<\?xml[^>]*?encoding\s*=\s*[\"']([\w.\-]+)[\"']")

_ENCODINGS = re.compile(
    r"utf-(?:8|16|32)(?:-[bl]e)?|ascii|iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|kz1048|hz|johab"
    r"|gb\w+|big5\w*|shift_jis\w*|euc_\w+|iso2022_\w+|tis-620|ptcp154"
)
"""Of characters, as Python calls them: it knows others, which unpack or compute."""

Reader: TypeAlias = Callable[[Iterable[str]], Iterator[Part]]
"""Reads the text of a part."""


class Package:
    """An archive that was opened and looked over."""

    def __init__(self, source: IO[bytes]) -> None:
        with _damage():
            self._archive = ZipFile(source)
        self.members = self._archive.infolist()
        self._check()

    def _check(self) -> None:
        names = [info.filename for info in self.members]
        size = sum(info.file_size for info in self.members)
        if len(names) > MOST_MEMBERS:
            raise DamagedError(f"has {len(names)} parts, expected at most {MOST_MEMBERS}")
        if size > MOST_BYTES:
            raise DamagedError(f"unpacks to {size} bytes, expected at most {MOST_BYTES}")
        if len(set(names)) < len(names):
            raise DamagedError("has two parts of one name")
        if any(info.flag_bits & 1 for info in self.members):
            raise DamagedError("is encrypted; save it without a password")

    @property
    def names(self) -> list[str]:
        """Of the parts, in their order."""
        return [info.filename for info in self.members]

    def open(self, info: ZipInfo) -> IO[bytes]:
        """Opens a part to read it."""
        with _damage():
            return self._archive.open(info)

    def text(self, name: str) -> str:
        """A small part as text; "" where there is none."""
        if name not in self.names:
            return ""
        with _damage(), self._archive.open(name) as file:
            data = file.read(_SMALL + 1)
        if len(data) > _SMALL:
            raise DamagedError(f"{name} is larger than {_SMALL >> 20} MiB")
        return data.decode(_encoding(data), errors="replace")

    def by_type(self, readers: Mapping[re.Pattern[str], XmlReader]) -> dict[str, Reader]:
        """Readers of the parts of an Office document by what [Content_Types].xml says they are."""
        reading: dict[str, Reader] = {}
        for tag in _OVERRIDE.findall(self.text("[Content_Types].xml")):
            values = attributes(tag)
            for pattern, reader in readers.items():
                if pattern.fullmatch(values.get("ContentType", "")):
                    reading[values.get("PartName", "").lstrip("/")] = reader.read
        return reading

    def chunks(self, info: ZipInfo) -> tuple[str, Iterator[str]]:
        """The encoding of a part of XML, and its text as it is read."""
        with self.open(info) as file, _damage():
            encoding = _encoding(file.read(200))
        return encoding, self._decoded(info, encoding)

    def _decoded(self, info: ZipInfo, encoding: str) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder(encoding)()
        with self.open(info) as file:
            while True:
                with _damage():
                    data = file.read(_CHUNK)
                    text = decoder.decode(data, final=not data)
                if text:
                    yield text
                if not data:
                    return


def _encoding(head: bytes) -> str:
    """The encoding of XML that begins so."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if head.startswith(mark):
            return encoding
    declared = _ENCODING.search(head.decode("latin-1"))
    name = declared[1] if declared else "utf-8"
    try:
        known = codecs.lookup(name).name
    except LookupError:
        known = ""
    if not _ENCODINGS.fullmatch(known):
        raise DamagedError(f"is written in an unknown encoding, {name[:40]}")
    return known


@contextmanager
def _damage() -> Iterator[None]:
    """What a broken archive raises, as one line."""
    try:
        yield
    except DamagedError:
        raise
    except (BadZipFile, LargeZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise DamagedError(f"is no readable ZIP archive: {error}") from None
    except UnicodeDecodeError as error:
        raise DamagedError(f"is no text in {error.encoding}") from None
    except (ValueError, RuntimeError, OSError, OverflowError) as error:
        raise DamagedError(f"cannot be read: {error}") from None


def kind(source: IO[bytes]) -> str:
    """The name of the format that a package says it is, "" where it is none that is read."""
    package = Package(source)
    source.seek(0)
    mime = package.text("mimetype").strip()
    if mime == "application/epub+zip":
        return "epub"
    if mime.startswith("application/vnd.oasis.opendocument."):
        return _MIME_KINDS.get(mime.rpartition(".")[2].partition("-")[0], "")
    types = _KIND.search(package.text("[Content_Types].xml"))
    return _KINDS[types[1]] if types else ""


def package_format(
    name: str,
    suffixes: tuple[str, ...],
    media_type: str,
    readers: Callable[[Package], Mapping[str, Reader]],
) -> Format:
    """A format of packages.

    Args:
        name: Of the format.
        suffixes: Of its files.
        media_type: Of its files.
        readers: Says what reads which part; other parts are copied.
    """

    def read(source: IO[bytes]) -> Iterator[Piece]:
        if kind(source) != name:
            raise DamagedError(f"is no {name} document")
        package = Package(source)
        reading = readers(package)
        for info in package.members:
            reader = reading.get(info.filename)
            if reader is None:
                yield Member(info=info, content=partial(package.open, info))
                continue
            encoding, chunks = package.chunks(info)
            yield Member(encoding, "xmlcharrefreplace", info)
            try:
                yield from reader(chunks)
            except DamagedError as error:
                raise DamagedError(f"{info.filename}: {error}") from None

    return Format(name, suffixes, media_type, read, write_package)


def write_package(pieces: Iterable[str | Member], target: IO[bytes]) -> None:
    """Writes a package; parts keep their names, dates and order."""
    with ZipFile(target, "w") as archive:
        out: IO[bytes] | None = None
        member = Member()
        try:
            for piece in pieces:
                if isinstance(piece, str):
                    assert out is not None
                    out.write(piece.encode(member.encoding, errors=member.errors))
                    continue
                if out is not None:
                    out.close()
                member = piece
                out = archive.open(_like(piece), "w")
                if piece.content is not None:
                    _copy(piece.content, out)
        finally:
            if out is not None:
                out.close()


def _copy(content: Callable[[], IO[bytes]], out: IO[bytes]) -> None:
    with content() as file:
        while True:
            with _damage():
                data = file.read(_CHUNK)
            if not data:
                return
            out.write(data)


def _like(member: Member) -> ZipInfo:
    """The entry of a part in a new archive."""
    assert member.info is not None
    info = ZipInfo(member.info.filename, member.info.date_time)
    info.compress_type = ZIP_STORED if member.info.compress_type == ZIP_STORED else ZIP_DEFLATED
    info.external_attr = member.info.external_attr
    info.create_system = member.info.create_system
    info.comment = member.info.comment
    info.file_size = member.info.file_size  # so that a part of over 2 GiB is written as one
    return info
