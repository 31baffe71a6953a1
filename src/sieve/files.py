"""Files on disk, whole or not at all: directories, JSON objects and tensors.

Everything that Sieve writes goes through here, so that a killed process leaves either the old
state or the new one, and two processes never write the same file. Knows neither models nor corpora.
"""

import hashlib
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from sieve.errors import InputError, ModelError
from sieve.processes.locks import FileLock

Tensors = Mapping[str, npt.NDArray[Any]]
ALIGNMENT = 64
"""Bytes: tensors whose size is a multiple of it begin at a multiple of it in their file."""
_BLOCK = 1 << 20
_MOST_LINKS = 40  # as Linux has it
_DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}


@contextmanager
def whole_directory(directory: Path) -> Iterator[Path]:
    """A scratch directory beside `directory` that takes its name when the block succeeds."""
    if directory.is_symlink():
        raise InputError(f"{directory}: is a symbolic link; give the directory itself")
    if directory.exists() and not directory.is_dir():
        raise InputError(f"{directory}: is a file, expected a directory to make; choose another")
    with _writable(directory):
        directory.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    try:
        yield partial
        partial.chmod(0o755)
        for entry in partial.iterdir():
            _sync(entry)
        replace_directory(directory, partial)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def replaceable(path: Path) -> Path | None:
    """The file that writing to `path` replaces: where its links end.

    None for a device, a pipe or an open file of this process (/dev/stdout): those are written to.
    """
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


def file_hash(path: Path) -> str:
    """SHA-256 of the content of a file, in hexadecimal."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON object; a damaged file is a ModelError that names it."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise ModelError(f"{path}: got {type(value).__name__}, expected a JSON object")
    return value


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


def read_tensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Reads a safetensors file; a damaged file is a ModelError that names it."""
    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise ModelError(f"{path}: no such file") from None
    except (SafetensorError, OSError, TypeError) as error:
        raise ModelError(f"{path}: not a readable safetensors file: {error}") from None


def map_tensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Maps a safetensors file into memory, read-only: opens at once, whatever its size."""
    try:
        with safe_open(path, framework="numpy") as file:
            names = list(file.keys())  # opening has checked that the header fits the file
        with path.open("rb") as raw:
            header_size = int.from_bytes(raw.read(8), "little")
            header = json.loads(raw.read(header_size))
            # as a plain array: indexing it costs less than indexing a np.memmap
            data = np.memmap(raw, np.uint8, "r").view(np.ndarray)
    except FileNotFoundError:
        raise ModelError(f"{path}: no such file") from None
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelError(f"{path}: not a readable safetensors file: {error}") from None
    tensors = {}
    for name in names:
        entry = header[name]
        if entry["dtype"] not in _DTYPES:
            raise ModelError(f"{path}: {name}: dtype {entry['dtype']} cannot be mapped")
        start, stop = (8 + header_size + offset for offset in entry["data_offsets"])
        flat = data[start:stop].view(_DTYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def read_metadata(path: Path) -> dict[str, str]:
    """The notes that a safetensors file carries beside its tensors."""
    try:
        with safe_open(path, framework="numpy") as file:
            return dict(file.metadata() or {})
    except FileNotFoundError:
        raise ModelError(f"{path}: no such file") from None
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path}: not a readable safetensors file: {error}") from None


def write_tensors(path: Path, tensors: Tensors, metadata: Mapping[str, str] | None = None) -> None:
    """Writes a safetensors file, aligned for memory maps."""
    codes = {dtype: code for code, dtype in _DTYPES.items()}
    # multiples of the alignment first: each leaves the next one aligned
    ranked = sorted(
        tensors, key=lambda n: (tensors[n].nbytes % ALIGNMENT > 0, -tensors[n].itemsize, n)
    )
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name in ranked:
        array = tensors[name]
        start, end = end, end + array.nbytes
        code = codes[array.dtype.newbyteorder("<")]
        header[name] = {"dtype": code, "shape": array.shape, "data_offsets": (start, end)}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    with whole_file(path) as partial, _writable(path), partial.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in ranked:
            array = np.asarray(tensors[name], tensors[name].dtype.newbyteorder("<"), order="C")
            file.write(array.reshape(-1).view(np.uint8).data)


def check_shapes(tensors: Tensors, shapes: Mapping[str, tuple[int, ...]], where: str) -> None:
    """Refuses tensors whose names and shapes are not exactly these."""
    missing, extra = shapes.keys() - tensors.keys(), tensors.keys() - shapes.keys()
    if missing or extra:
        kind, names = ("lacks", missing) if missing else ("has the unknown", extra)
        raise ModelError(f"{where}: {kind} tensor {sorted(names)[0]} ({len(names)} such in all)")
    for name, shape in shapes.items():
        if tensors[name].shape != shape:
            raise ModelError(
                f"{where}: tensor {name} has shape {tensors[name].shape}, expected {shape}"
            )


@contextmanager
def _writable(path: Path) -> Iterator[None]:
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
