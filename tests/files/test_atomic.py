import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sieve.errors import InputError
from sieve.files import read_json, whole_directory, whole_file, write_json, write_tensors


def test_directory_appears_only_when_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with whole_directory(target) as partial:
        (partial / "a").write_text("1")
        assert not target.exists()
    assert (target / "a").read_text() == "1"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_failed_directory_leaves_the_old_one_and_no_scratch(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").write_text("kept")
    with pytest.raises(KeyboardInterrupt), whole_directory(target) as partial:
        (partial / "new").write_text("half")
        raise KeyboardInterrupt
    assert (target / "old").read_text() == "kept"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_directory_replaces_an_older_one(tmp_path: Path) -> None:
    target = tmp_path / "out"
    for number in ("1", "2"):
        with whole_directory(target) as partial:
            (partial / number).write_text(number)
    assert [p.name for p in target.iterdir()] == ["2"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_files_get_the_mode_that_others_get(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_tensors(tmp_path / "t", {"a": np.zeros(2, np.float32)})
    write_json(tmp_path / "j", {})
    modes = {(tmp_path / name).stat().st_mode for name in ("plain", "t", "j")}
    assert len(modes) == 1


def test_failed_file_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(RuntimeError), whole_file(path) as partial:
        partial.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_json_round_trip_is_readable(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"name": "Grüße", "n": [1, 2]})
    assert "Grüße" in (tmp_path / "a.json").read_text(encoding="utf-8")
    assert read_json(tmp_path / "a.json") == {"name": "Grüße", "n": [1, 2]}


def test_json_is_plain_json(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"x": 1.5})
    assert json.loads((tmp_path / "a.json").read_text()) == {"x": 1.5}


def test_what_is_in_the_way_is_told_and_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    cases = [("file", "is a file"), ("link", "symbolic link"), ("file/x", "cannot be written")]
    for name, message in cases:
        with pytest.raises(InputError, match=message), whole_directory(tmp_path / name):
            pass
    with pytest.raises(InputError, match="is a directory"), whole_file(tmp_path / "real"):
        pass
    assert (tmp_path / "file").read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "link", "real"]


def test_a_link_stays_and_its_target_is_replaced_whole(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link, chain = tmp_path / "far" / "target", tmp_path / "link", tmp_path / "chain"
    target.write_text("old")
    link.symlink_to("far/target")
    chain.symlink_to("link")
    with whole_file(chain) as partial:
        partial.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert chain.readlink() == Path("link") and link.readlink() == Path("far/target")
    with pytest.raises(RuntimeError), whole_file(link) as partial:
        partial.write_text("half")
        raise RuntimeError
    assert target.read_text() == "new"
    assert [p.name for p in target.parent.iterdir()] == ["target"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["chain", "far", "link"]


def test_a_link_to_nothing_is_where_the_file_goes(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_json(tmp_path / "link", {})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "{}\n"


def test_links_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with (
        pytest.raises(InputError, match="a: is a loop of symbolic links"),
        whole_file(tmp_path / "a"),
    ):
        pass


def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    with whole_file(Path("/dev/null")) as partial:
        partial.write_text("gone")
    assert Path("/dev/null").is_char_device()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(fifo.read_text()))
    reader.start()
    write_json(fifo, {"a": 1})
    reader.join()
    assert received == ['{\n  "a": 1\n}\n']
    assert fifo.is_fifo()
    assert [p.name for p in tmp_path.iterdir()] == ["fifo"]


@pytest.mark.parametrize("through", ["pipe", "file"])
def test_standard_output_by_name(tmp_path: Path, through: str) -> None:
    code = "import pathlib; from sieve.files import write_json;"
    command = [sys.executable, "-c", f"{code} write_json(pathlib.Path('/dev/stdout'), {{}})"]
    if through == "pipe":
        shown = subprocess.run(command, check=True, capture_output=True).stdout
    else:
        with (tmp_path / "out").open("wb") as file:
            subprocess.run(command, check=True, stdout=file)
            assert (tmp_path / "out").stat().st_ino == os.fstat(file.fileno()).st_ino
        shown = (tmp_path / "out").read_bytes()
    assert shown == b"{}\n"
    assert len(list(tmp_path.iterdir())) == (through == "file")


def test_two_writers_of_one_file_are_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with whole_file(path) as partial:
        partial.write_text("first")
        with pytest.raises(InputError, match="f: another process is writing it; wait for it or"):
            write_json(path, {})
    assert path.read_text() == "first"
    write_json(path, {})
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def written(target: Path, write: Callable[[], None]) -> list[str]:
    """What is brought to the disk, in order, and whether the target is there by then."""
    synced: list[str] = []
    fsync = os.fsync

    def recorded(descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        synced.append(f"{path.name} {'after' if target.exists() else 'before'}")
        fsync(descriptor)

    with pytest.MonkeyPatch.context() as patch:  # a loss of power cannot be had otherwise
        patch.setattr(os, "fsync", recorded)
        write()
    return synced


def test_content_is_on_the_disk_before_its_name(tmp_path: Path) -> None:
    """Else a loss of power leaves an empty file under the name of the old one."""
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "f"
    assert written(path, lambda: write_json(path, {})) == [".f.partial before", "folder after"]


def test_a_directory_is_on_the_disk_before_its_name(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "out"

    def write() -> None:
        with whole_directory(target) as partial:
            (partial / "a").write_text("1")

    assert written(target, write) == ["a before", "folder after"]
