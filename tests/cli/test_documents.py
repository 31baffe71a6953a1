"""`sieve translate --format` in a process of its own; a model with random weights says enough."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from directories import write_model
from packages import member, runs, word

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


def test_a_document_is_recognised(model: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "a.docx", tmp_path / "b.docx"
    source.write_bytes(word(f"<w:p>{runs('bda ', 'b:fga')}</w:p>"))
    done = run(model, "--input", str(source), "--output", str(target))
    assert done.returncode == 0, done.stderr.decode()
    assert member(target.read_bytes(), "word/document.xml").startswith("<?xml")
    assert run(model, "--input", str(source)).stdout == target.read_bytes()
    lines = tmp_path / "a.html"
    lines.write_text("<p>bda\n")
    assert run(model, "--input", str(lines)).stdout.startswith(b"<p>")
    assert run(model, "--input", str(lines), "--format", "lines").stdout.count(b"\n") == 1


def test_a_broken_document_leaves_nothing(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "a.docx"
    source.write_bytes(word("<w:p></w:r>"))
    done = run(model, "--input", str(source), "--output", str(tmp_path / "b.docx"))
    assert done.returncode == 2
    assert done.stderr.decode().endswith(
        "a.docx: word/document.xml: not well-formed XML at character "
        "304: got </w:r>, expected </w:p>\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a.docx"]


def test_the_name_of_an_output_fits(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("bda")
    done = run(model, "--input", str(tmp_path / "a.md"), "--output", str(tmp_path / "a.docx"))
    assert done.returncode == 2
    assert done.stderr.decode().endswith(
        "a.docx: is named like docx, but markdown stays markdown; choose another --output\n"
    )


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
