import hashlib
import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import sieve
from sieve.errors import InputError, ModelError, SieveError
from sieve.files import (
    Folder,
    file_hash,
    read_content,
    read_json,
    read_tensors,
    whole_directory,
    write_json,
)
from sieve.translate.streams import file_lines


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff", b"null"])
def test_damaged_json(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "c.json").write_bytes(content)
    with pytest.raises(ModelError, match=r"c\.json"):
        read_json(tmp_path / "c.json")


@pytest.fixture
def strange(tmp_path: Path) -> dict[str, Path]:
    """Things that are no regular files; reading some of them would never end."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/dev/zero")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "socket"))
    server.close()
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(6 * 2**30)
    return {
        "is a pipe": tmp_path / "pipe",
        "cannot be read: Is a directory": tmp_path / "folder",
        "is a device": tmp_path / "link",
        "cannot be read: No such device or address": tmp_path / "socket",
        "has 6442450944 bytes, expected at most 67108864": tmp_path / "sparse",
    }


@pytest.mark.parametrize("read", [read_content, read_json])
def test_only_regular_files_of_bounded_size_are_read(
    strange: dict[str, Path], read: Callable[[Path], object]
) -> None:
    for message, path in strange.items():
        with pytest.raises(ModelError, match=f"{path}: {message}"):
            read(path)


def test_tensors_come_from_regular_files_only(strange: dict[str, Path]) -> None:
    for message, path in strange.items():
        if path.name != "sparse":
            with pytest.raises(ModelError, match=f"{path}: {message}"):
                read_tensors(path)


def test_tensors_larger_than_memory_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(2**43)
    with pytest.raises(ModelError, match="has 8796093022208 bytes, expected at most"):
        read_tensors(tmp_path / "huge")


@pytest.mark.parametrize("name", ["x\0", "x\ud800"])
def test_what_no_file_can_be_called(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write: Callable[[Path], object] = partial(write_json, value={})
    for touch in (read_content, read_json, read_tensors, write, sieve.load):
        with pytest.raises(
            SieveError, match=r"got a name with NUL or half|no such model directory"
        ):
            touch(path)
    with pytest.raises(InputError, match="got a name with NUL or half"), whole_directory(path):
        pass
    with pytest.raises(InputError, match="got a name with NUL or half"):
        list(file_lines(path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "a\0"])
def test_a_folder_hands_out_nothing_from_outside(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("{}")
    (tmp_path / "inside").mkdir()
    folder = Folder(tmp_path / "inside")
    for read in (folder.read, folder.json, folder.tensors):
        with pytest.raises(ModelError, match="expected a plain name without folders"):
            read(name)
    assert not folder.has(name)


def test_a_folder_reads_what_has_the_hash_that_is_known(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    # of FIPS 180-2, appendix B.1
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert file_hash(tmp_path / "a") == known == hashlib.sha256(b"abc").hexdigest()
    folder = Folder(tmp_path, {"a": known})
    assert folder.read("a") == b"abc"
    assert folder.checked("a") == tmp_path / "a"
    (tmp_path / "a").write_bytes(b"abd")
    for read in (folder.read, folder.tensors, folder.checked):
        with pytest.raises(ModelError, match="a: damaged or changed: its SHA-256 is not the one"):
            read("a")
    assert Folder(tmp_path).read("a") == b"abd"
