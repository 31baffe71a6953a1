"""Directories, files and JSON objects that appear whole or not at all. Reads nothing but links."""

import json
import math
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sieve.errors import InputError
from sieve.files.regular import check_name
from sieve.files.unfinished import new_scratch
from sieve.processes.locks import FileLock

_MOST_LINKS = 40  # as Linux has it


@contextmanager
def whole_directory(directory: Path) -> Iterator[Path]:
    """A scratch directory beside `directory` that takes its name when the block succeeds."""
    check_name(directory)
    if directory.is_symlink():
        raise InputError(f"{directory}: is a symbolic link; give the directory itself")
    if directory.exists() and not directory.is_dir():
        raise InputError(f"{directory}: is a file, expected a directory to make; choose another")
    with writable(directory):
        directory.parent.mkdir(parents=True, exist_ok=True)
        partial, lock = new_scratch(directory)
    try:
        yield partial
        partial.chmod(0o755)
        for entry in partial.iterdir():
            _sync(entry)
        replace_directory(directory, partial)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    finally:
        if lock is not None:
            lock.release()


def replaceable(path: Path) -> Path | None:
    """The file that writing to `path` replaces: where its links end.

    None for a device, a pipe or an open file of this process (/dev/stdout): those are written to.
    """
    check_name(path)
    if path.is_dir():
        raise InputError(f"{path}: is a directory, expected a file to write; choose another")
    target = path
    for _ in range(_MOST_LINKS):
        if target.parent.resolve().parts[1:2] == ("proc",) or target.parent == Path("/dev/fd"):
            return None  # an open file: its link shows a name, but the name is not what is open
        if not target.is_symlink():
            return target if target.is_file() or not target.exists() else None
        target = target.parent / target.readlink()
    raise InputError(f"{path}: is a loop of symbolic links; choose another")


def claim_partial(target: Path) -> tuple[Path, FileLock]:
    """The scratch file beside `target`, created if need be, and the lock that keeps others out."""
    partial = target.with_name(f".{target.name}.partial")
    try:
        return partial, FileLock(partial)
    except BlockingIOError:
        raise InputError(
            f"{target}: another process is writing it; wait for it or choose another"
        ) from None
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}; choose another") from None


def put_in_place(partial: Path, target: Path) -> None:
    """Gives a finished scratch file the name of `target`; survives a loss of power."""
    _sync(partial)
    partial.replace(target)
    _sync(target.parent)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A scratch file that takes the place of `path` when the block succeeds.

    Where `path` is a symbolic link, the link stays and the file at its end is replaced; a device
    or a pipe is written to as it is.
    """
    target = replaceable(path)
    if target is None:
        if not os.access(path, os.W_OK):
            raise InputError(f"{path}: cannot be written: permission denied; choose another")
        yield path
        return
    partial, lock = claim_partial(target)
    try:
        mode = partial.stat().st_mode  # what the user's umask gives; safetensors would make it 0600
        yield partial
        partial.chmod(mode)
        put_in_place(partial, target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    finally:
        lock.release()


def copy_file(path: Path, target: Path) -> None:
    """Copies the content of a file."""
    try:
        shutil.copyfile(path, target)
    except OSError as error:
        raise InputError(f"{path}: cannot be copied: {error.strerror}") from None


def json_values(value: Any) -> Any:
    """Tuples as lists, and None for a number that JSON cannot say."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: json_values(item) for key, item in value.items()}
    return [json_values(item) for item in value] if isinstance(value, list | tuple) else value


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Writes a JSON object for people and programs: indented, UTF-8, keys in their order."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    with whole_file(path) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


@contextmanager
def writable(path: Path) -> Iterator[None]:
    """One line instead of a traceback where nothing can be made."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}; choose another") from None


def replace_directory(directory: Path, partial: Path) -> None:
    """Gives `partial` the name of `directory`; an older one goes only after the new one stands."""
    old = directory.with_name(f".{directory.name}.{os.getpid()}.old")
    if directory.exists():
        directory.rename(old)
    try:
        partial.rename(directory)
    except OSError:
        if old.exists():
            old.rename(directory)
        raise
    _sync(directory.parent)
    if old.exists():
        shutil.rmtree(old)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
