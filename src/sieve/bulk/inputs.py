"""Which files there are to translate: paths, directories and globs, here or in an object store.

What has a scheme (`s3://`, `gs://`, `hdfs://`, …) is found and read by pyarrow, as Ray does.
"""

from __future__ import annotations

import fnmatch
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from sieve.errors import InputError, require
from sieve.files import check_name
from sieve.files.compressed import (
    DAMAGED,
    compression_of,
    compression_of_name,
    decompressed,
)

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://")
_GLOB = frozenset("*?[")
_PART = "bulk"  # the extra that brings pyarrow
_BUFFER = 1 << 20


@dataclass(frozen=True)
class InputFile:
    """A file to translate."""

    path: str
    """Or an address with a scheme."""
    name: str
    """Where its output goes, from the output directory on."""

    @property
    def compression(self) -> str | None:
        """That of the output: what the name promises."""
        return compression_of_name(self.name)

    @contextmanager
    def open(self) -> Iterator[io.BufferedReader]:
        """What the file holds, decompressed; errors in reading it are one line."""
        with _readable(self.path):
            raw = _opened(self.path)
            source = io.BufferedReader(raw, _BUFFER)
            inner = decompressed(source, compression_of(source))
        with closing(inner), closing(raw):
            yield io.BufferedReader(_Input(inner, self.path), _BUFFER)


class _Input(io.RawIOBase):
    """A file whose errors name it and say what to do."""

    def __init__(self, inner: BinaryIO, path: str) -> None:
        self._inner = inner
        self._path = path

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._inner.seekable()

    def seek(self, offset: int, whence: int = 0, /) -> int:
        with _readable(self._path):
            return self._inner.seek(offset, whence)

    def tell(self) -> int:
        return self._inner.tell()

    def readinto(self, buffer: Any, /) -> int:
        with _readable(self._path):
            count: int = self._inner.readinto(buffer)  # type: ignore[attr-defined]
            return count


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """One line instead of what a library says of a file that cannot be read."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
        raise _damaged(path, error) from None  # bz2 says so; pyarrow in words
    except DAMAGED as error:
        raise _damaged(path, error) from None


def _damaged(path: str, error: Exception) -> InputError:
    text = " ".join(str(error).split()) or type(error).__name__
    return InputError(f"{path}: cannot be read: {text}; is it damaged or cut off?")


def input_files(places: Sequence[str]) -> list[InputFile]:
    """All files that paths, directories and globs mean, in order; none twice.

    Args:
        places: As a user writes them.
    """
    files: dict[str, InputFile] = {}
    names: dict[str, str] = {}
    for place in places:
        listed = list(_listed(place))
        if not listed:
            raise InputError(
                f"{place}: got no file; expected a file, a directory with files or a glob"
            )
        for file in listed:
            other = names.setdefault(file.name, file.path)
            if other != file.path:
                raise InputError(
                    f"{file.path}: its output would have the name of that of {other}; give their "
                    "common directory"
                )
            files.setdefault(file.path, file)
    return list(files.values())


def _listed(place: str) -> Iterable[InputFile]:
    check_name(place)
    if _SCHEME.match(place):
        return _remote(place)
    path = Path(place)
    if path.is_dir():
        return _named((each for each in path.rglob("*") if each.is_file()), path)
    if path.exists() or not _GLOB & set(place):
        if not path.is_file():
            raise InputError(f"{place}: no such file or directory")
        return [InputFile(place, path.name)]
    fixed = _fixed(path.parts)
    pattern = str(Path(*path.parts[len(fixed) :]))
    return _named((each for each in Path(*fixed).glob(pattern) if each.is_file()), Path(*fixed))


def _named(paths: Iterable[Path], directory: Path) -> list[InputFile]:
    """Files of a directory in order, without hidden ones and marks such as _SUCCESS."""
    inner = sorted((path.relative_to(directory).as_posix(), path) for path in paths)
    return [InputFile(str(path), name) for name, path in inner if not _is_hidden(name)]


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in PurePosixPath(name).parts)


def _fixed(parts: Sequence[str]) -> list[str]:
    """The parts of a path before the first with a sign of a glob."""
    for place, part in enumerate(parts):
        if _GLOB & set(part):
            return list(parts[:place])
    return list(parts)


def _remote(address: str) -> list[InputFile]:
    fs = require("pyarrow.fs", _PART, "reading object stores")

    parts = address.split("/")
    fixed = "/".join(_fixed(parts))
    system, root = _system(fixed)
    try:
        info = system.get_file_info(root)
        if info.type == fs.FileType.File:
            return [InputFile(address, PurePosixPath(root).name)]
        selector = fs.FileSelector(root, recursive=True, allow_not_found=True)
        listed = system.get_file_info(selector)
    except OSError as error:
        raise InputError(f"{address}: cannot be read: {' '.join(str(error).split())}") from None
    pattern = "/".join(parts[len(fixed.split("/")) :])
    files = []
    for entry in sorted(listed, key=lambda entry: entry.path):
        name = entry.path.removeprefix(root).lstrip("/")
        fits = not pattern or (
            fnmatch.fnmatchcase(name, pattern) and name.count("/") == pattern.count("/")
        )
        if entry.type == fs.FileType.File and fits and not _is_hidden(name):
            files.append(InputFile(_address(fixed, root, entry.path), name))
    return files


def _address(fixed: str, root: str, path: str) -> str:
    return fixed.rstrip("/") + "/" + path.removeprefix(root).lstrip("/")


def _system(address: str) -> tuple[Any, str]:
    """The file system of an address and the path in it."""
    fs = require("pyarrow.fs", _PART, "reading object stores")
    try:
        system, path = fs.FileSystem.from_uri(address)
    except (ValueError, OSError) as error:
        raise InputError(f"{address}: cannot be read: {' '.join(str(error).split())}") from None
    return system, path


def _opened(path: str) -> Any:
    if not _SCHEME.match(path):
        return open(path, "rb", buffering=0)
    system, inner = _system(path)
    return system.open_input_file(inner)
