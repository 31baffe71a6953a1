"""A lock is held once, outlives neither its holder nor a renamed file, and leaves content alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from sieve.processes.locks import FileLock


def test_held_once_and_free_again(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("kept")
    lock = FileLock(path)
    with pytest.raises(BlockingIOError):
        FileLock(path)
    lock.release()
    lock.release()
    FileLock(path).release()
    assert path.read_text() == "kept"


def test_free_when_nobody_refers_to_it(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "f")
    del lock
    FileLock(tmp_path / "f").release()


def test_a_renamed_file_leaves_its_name_free(tmp_path: Path) -> None:
    path = tmp_path / "f"
    lock = FileLock(path)
    path.rename(tmp_path / "g")
    FileLock(path).release()
    with pytest.raises(BlockingIOError):
        FileLock(tmp_path / "g")
    lock.release()


def test_free_when_its_process_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "f"
    code = (
        "import sys, pathlib; from sieve.processes.locks import FileLock;"
        "lock = FileLock(pathlib.Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError):
            FileLock(path)
        holder.kill()
    FileLock(path).release()


def test_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileLock(tmp_path / "none" / "f")
