"""Where a model of another toolkit lies: a directory, or a file and what lies beside it.

Reads files whole, gzip and zstd included, and says which languages names speak of. Content is never
trusted: a file that unpacks to far more than it can be is refused.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from sieve.errors import InputError, ModelError, require
from sieve.files import read_content, regular_file

_PACKED = (".gz", ".zst")
_MOST_EXPANSION = 64
"""No model becomes this many times larger when it is unpacked."""
MOST_BYTES = 2**36
"""Of a file of a model: 64 GiB."""
_CHUNK = 2**20
_CODE = re.compile("[a-z]{2,3}")
_JOINT = re.compile(r"^(?:model|lex|vocab)[.\w]*?\.([a-z]{2})([a-z]{2})\.")
_NO_LANGUAGES = {
    "opus",
    "mt",
    "tc",
    "big",
    "base",
    "tiny",
    "hf",
    "int",
    "spm",
    "bin",
    "src",
    "trg",
    "gz",
    "zst",
    "npz",
}


@dataclass(frozen=True)
class Origin:
    """A model as the user names it."""

    path: Path
    """A directory or a file."""
    name: str = ""
    """What the user wrote, where that is no path: a hub's name for it."""

    @property
    def directory(self) -> Path:
        """Where the files lie."""
        return self.path if self.path.is_dir() else self.path.parent

    @property
    def title(self) -> str:
        """The name for messages and cards."""
        return self.name or self.path.resolve().name

    def named(self, *endings: str) -> list[Path]:
        """Files whose names have one of the endings, packed or not, in the order of their names."""
        return [
            path
            for path in sorted(self.directory.iterdir())
            if path.is_file() and plain_name(path).endswith(endings)
        ]

    def file(self, name: str) -> Path | None:
        """The file of this name, packed or not."""
        for path in (self.directory / f"{name}{ending}" for ending in ("", *_PACKED)):
            if path.is_file():
                return path
        return None


def source_of(path: Path, name: str = "") -> Origin:
    """The source at a path, which must be there."""
    if not path.exists():
        raise InputError(f"{path}: no such file or directory")
    return Origin(path, name)


def plain_name(path: Path) -> str:
    """The name without `.gz` or `.zst`."""
    return path.stem if path.suffix in _PACKED else path.name


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked where its name says that it is packed."""
    try:
        if path.suffix not in _PACKED:
            return read_content(path, MOST_BYTES)
        most = min(_MOST_EXPANSION * path.stat().st_size + _CHUNK, MOST_BYTES)
        parts, size = [], 0
        for part in _gunzipped(path) if path.suffix == ".gz" else _unzstd(path):
            size += len(part)
            if size > most:
                raise ModelError(f"{path}: unpacks to more than {most} bytes: not a model")
            parts.append(part)
        return b"".join(parts)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


def beginning(path: Path, size: int) -> bytes:
    """The first bytes of a file, unpacked; none where it cannot be read."""
    try:
        if path.suffix not in _PACKED:
            with regular_file(path, MOST_BYTES) as (file, _):
                return file.read(size)
        return next(_gunzipped(path) if path.suffix == ".gz" else _unzstd(path), b"")[:size]
    except (OSError, ModelError):
        return b""


def _gunzipped(path: Path) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        with regular_file(path, MOST_BYTES) as (file, _):
            while not unpacker.eof and (packed := unpacker.unconsumed_tail or file.read(_CHUNK)):
                yield unpacker.decompress(packed, _CHUNK)
            if not unpacker.eof:
                raise ModelError(f"{path}: damaged: the gzip file ends too early")
    except zlib.error as error:
        raise ModelError(f"{path}: damaged: not a gzip file: {error}") from None


def _unzstd(path: Path) -> Iterator[bytes]:
    zstandard = require("zstandard", "import", "reading .zst files")
    try:
        with regular_file(path, MOST_BYTES) as (file, _):
            reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
            while part := reader.read(_CHUNK):
                yield part
    except zstandard.ZstdError as error:
        raise ModelError(f"{path}: damaged: not a zstd file: {error}") from None


def languages_in(names: Sequence[str]) -> tuple[str, str]:
    """The two languages that the first telling name speaks of; empty where none does.

    >>> languages_in(["model.enpt.intgemm.alphas.bin"])
    ('en', 'pt')
    >>> languages_in(["Helsinki-NLP/opus-mt-tc-big-en-pt"])
    ('en', 'pt')
    """
    for name in names:
        joint = _JOINT.match(name)
        if joint:
            return joint[1], joint[2]
        parts = re.split(r"[-_./]", name)
        codes = [part if _CODE.fullmatch(part) else "" for part in parts]
        told = [(a, b) for a, b in pairwise(codes) if a and b and not {a, b} & _NO_LANGUAGES]
        if told:
            return told[-1]
    return "", ""
