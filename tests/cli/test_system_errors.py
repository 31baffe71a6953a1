"""What the system refuses is one line and exit code 2, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sieve.cli.main import main

MODELS = Path(__file__).parents[2] / "models"


def told(capsys: pytest.CaptureFixture[str], *argv: object) -> str:
    assert main([*map(str, argv)]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("sieve ")]
    assert len(lines) == 1
    return lines[0]


def test_what_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path, reason in (
        (tmp_path, "Is a directory"),
        (tmp_path / "none", "No such file or directory"),
        (tmp_path / ("x" * 300), "File name too long"),
        ("/proc/self/mem", "Input/output error"),
    ):
        assert reason in told(capsys, "translate", MODELS / "en-de", "--input", path)


def test_what_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("Hello.\n")
    command = ("translate", MODELS / "en-de", "--input", tmp_path / "text", "--output")
    for path, reason in (
        ("/sys/nothing/out", "No such file or directory"),
        (tmp_path / ("x" * 300), "File name too long"),
    ):
        assert reason in told(capsys, *command, path)
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may do everything")
def test_permission_denied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("Hello.\n")
    (tmp_path / "text").chmod(0)
    command = ("translate", MODELS / "en-de", "--input", tmp_path / "text")
    assert "Permission denied" in told(capsys, *command)


@pytest.mark.parametrize("through", ["standard output", "--output"])
def test_a_full_disk(tmp_path: Path, through: str) -> None:
    (tmp_path / "text").write_text("Hello.\n")
    command = [sys.executable, "-m", "sieve.cli", "translate", str(MODELS / "en-de")]
    command += ["--input", str(tmp_path / "text")]
    command += ["--output", "/dev/full"] if through == "--output" else []
    with open("/dev/full" if through == "standard output" else "/dev/null", "wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "sieve translate: No space left on device; free some and rerun"
    )
