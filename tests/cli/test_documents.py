"""`sieve translate --format` in a process of its own; a model with random weights says enough."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from directories import write_model

PAGE = b"<!DOCTYPE html>\n<p>bda <b>fga</b></p>\n<script>bda < fga</script>\xff\n"


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("documents") / "xx-yy"
    write_model(directory, toy_data.corpus, int8=True)
    return directory


def run(model: Path, *options: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "sieve.cli", "translate", str(model), *options]
    return subprocess.run(command, input=text, capture_output=True, check=False)


def test_a_page_from_standard_input(model: Path) -> None:
    done = run(model, "--format", "html", text=PAGE)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.startswith(b"<!DOCTYPE html>\n<p>")
    assert done.stdout.endswith(b"</p>\n<script>bda < fga</script>\xff\n")  # bytes and all
    assert done.stdout.count(b"<b>") == done.stdout.count(b"</b>") == 1


def test_files(model: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "a.md", tmp_path / "b.md"
    source.write_text("# bda\n\n```\nfga\n```\n")
    done = run(model, "--format", "markdown", "--input", str(source), "--output", str(target))
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == b""
    lines = target.read_text().splitlines()
    assert lines[0].startswith("# ") and lines[1:] == ["", "```", "fga", "```"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "b.md"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--json"], "sieve translate: --format html does not support --json\n"),
        (["--prefix", "x"], "sieve translate: --format html does not support --prefix\n"),
        (["--input", "no-such"], "no-such: cannot be read: No such file or directory\n"),
        (["--output", "."], "sieve translate: .: is a directory, expected a file to write\n"),
    ],
)
def test_what_cannot_be(model: Path, options: list[str], message: str) -> None:
    done = run(model, "--format", "html", *options)
    assert done.returncode == 2
    assert done.stderr.decode().endswith(message)
