"""Copies of directories in memory that nobody can change."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sieve.errors import ModelError
from sieve.files import CAN_SEAL, Folder, file_hash, seal_folder, sealed_folder, write_tensors

pytestmark = pytest.mark.skipif(not CAN_SEAL, reason="sealed memory needs Linux")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "a.json").write_text('{"a": 1}')
    (tmp_path / "empty").touch()
    (tmp_path / "inner").mkdir()
    write_tensors(tmp_path / "t.safetensors", {"x": np.arange(5, dtype=np.float32)})
    hashes = {name: file_hash(tmp_path / name) for name in ("a.json", "t.safetensors")}
    return Folder(tmp_path, hashes)


def test_the_copy_has_what_the_directory_had(folder: Folder) -> None:
    descriptor = seal_folder(folder)
    for path in list(folder.path.iterdir()):
        if path.is_file():
            path.write_bytes(b"something else")
    copy = sealed_folder(descriptor)
    os.close(descriptor)
    assert copy.path == folder.path
    assert [copy.has(name) for name in ("a.json", "empty", "inner", "b")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert copy.json("a.json") == {"a": 1}
    assert copy.read("empty") == b""
    x = copy.tensors("t.safetensors").tensors["x"]
    assert x.tolist() == [0, 1, 2, 3, 4]
    assert x.ctypes.data % 4 == 0 and not x.flags.writeable
    with pytest.raises(ModelError, match="b: no such file"):
        copy.read("b")


def test_other_tensors_take_the_place_of_a_file(folder: Folder) -> None:
    names: dict[str, npt.NDArray[Any]] = {
        "x": np.arange(100, dtype=np.float32).reshape(4, 25),
        "y": np.ones(3, np.uint8),
    }
    descriptor = seal_folder(folder, {"t.safetensors": names})
    copy = sealed_folder(descriptor)
    os.close(descriptor)
    tensors = copy.tensors("t.safetensors").tensors
    assert tensors.keys() == names.keys()
    assert all((tensors[name] == names[name]).all() for name in names)
    assert tensors["x"].ctypes.data % 64 == 0
    assert copy.json("a.json") == {"a": 1}


def test_nobody_can_change_it(folder: Folder) -> None:
    descriptor = seal_folder(folder)
    before = os.pread(descriptor, 10**6, 0)
    again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR)
    for change in (
        lambda: os.write(again, b"x"),
        lambda: os.ftruncate(again, 1),
        lambda: os.ftruncate(again, 10**7),
        lambda: os.pwrite(descriptor, b"x", 0),
    ):
        with pytest.raises(PermissionError):
            change()
    assert os.pread(descriptor, 10**6, 0) == before
    os.close(again)
    os.close(descriptor)


def test_a_file_that_is_not_what_was_recorded(folder: Folder) -> None:
    (folder.path / "a.json").write_text('{"a": 2}')
    count = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ModelError, match=r"a\.json: damaged or changed"):
        seal_folder(folder)
    assert len(os.listdir("/proc/self/fd")) == count  # nothing of it is left


def test_what_is_too_large_is_not_read(folder: Folder) -> None:
    os.truncate(folder.path / "a.json", 2**42)
    with pytest.raises(ModelError, match="expected at most"):
        seal_folder(folder)
