"""Compressed streams, read and written: gzip, bzip2, xz and Zstandard. Knows bytes alone.

A stream that is damaged or cut off raises one of `DAMAGED`, or an OSError without a number.
"""

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import PurePath
from typing import IO, BinaryIO

from sieve.errors import require
from sieve.kinds import HEAD, kind_of

SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
"""Compressions by the ending of a file's name."""
DAMAGED = (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile)
_BUFFER = 1 << 18
_ZST_STEP = 1 << 14
_GZIP_LEVEL = 6


def compression_of_name(name: str | PurePath) -> str | None:
    """The compression that a file's name promises."""
    return SUFFIXES.get(PurePath(name).suffix.lower())


def compression_of(source: io.BufferedReader) -> str | None:
    """The compression of a stream at its start, by its content."""
    kind = kind_of(source.peek(HEAD)[:HEAD])
    return kind.key if kind is not None and kind.key in SUFFIXES.values() else None


def decompressed(raw: BinaryIO, compression: str | None) -> BinaryIO:
    """What a compressed stream holds."""
    if compression == "gzip":
        return io.BufferedReader(gzip.GzipFile(fileobj=raw), _BUFFER)
    if compression == "bzip2":
        return io.BufferedReader(bz2.BZ2File(raw), _BUFFER)
    if compression == "xz":
        return io.BufferedReader(lzma.LZMAFile(raw), _BUFFER)
    if compression == "zstd":
        return io.BufferedReader(_Zstandard(raw), _BUFFER)
    return raw


def compressing(raw: IO[bytes], compression: str | None) -> IO[bytes]:
    """A stream that compresses what is written to it; closing it ends the frame, not `raw`.

    The same content gives the same bytes: no time and no name is stored.
    """
    if compression == "gzip":
        return gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, 0)  # type: ignore[return-value]
    if compression == "bzip2":
        return bz2.BZ2File(raw, "wb")
    if compression == "xz":
        return lzma.LZMAFile(raw, "wb")
    if compression == "zstd":
        zstandard = require("zstandard", "bulk", "writing .zst files")
        writer: IO[bytes] = zstandard.ZstdCompressor().stream_writer(raw, closefd=False)
        return writer
    return io.BufferedWriter(_Kept(raw), _BUFFER)  # type: ignore[type-var]


class _Kept(io.RawIOBase):
    """Writes to a stream that stays open."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw

    def writable(self) -> bool:
        return True

    def write(self, data: "bytes | memoryview") -> int:  # type: ignore[override]
        return self._raw.write(data)


class _Zstandard(io.RawIOBase):
    """Decompressed .zst; unlike the library's own reader it notices a file that was cut off."""

    def __init__(self, raw: BinaryIO) -> None:
        self._module = require("zstandard", "bulk", "reading .zst files")
        self._raw = raw
        self._frame = self._module.ZstdDecompressor().decompressobj()
        self._started = False
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        while not self._ready:
            if not self._advance():
                return 0
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _advance(self) -> bool:
        """Decompresses some more; False at the end of the file."""
        rest: bytes = self._frame.unused_data if self._frame.eof else b""
        data = rest or self._raw.read(_ZST_STEP)
        if not data:
            if self._started and not self._frame.eof:
                raise EOFError("the file ends inside a frame")
            return False
        if self._frame.eof:
            self._frame = self._module.ZstdDecompressor().decompressobj()
        self._started = True
        try:
            self._ready = self._frame.decompress(data)
        except self._module.ZstdError as error:
            raise EOFError(str(error)) from None
        return True
