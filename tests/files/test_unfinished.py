"""What a killed process left beside a directory, and what a live one is still writing."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sieve.files.atomic import whole_directory

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="directories have no locks there")
WRITES = """
import sys, time
from pathlib import Path
from sieve.files.atomic import whole_directory
with whole_directory(Path(sys.argv[1])) as partial:
    (partial / "half").write_text("x")
    print("ready", flush=True)
    sys.stdin.readline()
"""


def test_what_was_killed_is_removed_and_what_lives_is_not(tmp_path: Path) -> None:
    target = tmp_path / "model"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITES, str(target)], stdout=subprocess.PIPE, stdin=subprocess.PIPE
    )
    assert writer.stdout is not None and writer.stdout.readline() == b"ready\n"
    with whole_directory(target) as partial:
        (partial / "file").write_text("ours")
    assert len(list(tmp_path.glob(".model.*"))) == 1  # the other's, still being written
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    other = tmp_path / ".model-2.a1b2c3d4"
    kept = tmp_path / ".model.notes"
    other.mkdir()
    kept.mkdir()
    with whole_directory(target) as partial:
        (partial / "file").write_text("second")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".model-2.a1b2c3d4",
        ".model.notes",
        "model",
    ]
    assert (target / "file").read_text() == "second"
