"""`sieve bulk --local`, `sieve translate` in pieces: the bytes of one process, after any kill."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sieve.cli.main import main

BEAM = ("--beam-size", "1")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lines of several pieces, some of them odd, and their translation by one process."""
    root = tmp_path_factory.mktemp("corpus")
    lines = [f"I have {number % 90} apples." for number in range(1400)]
    lines[3:6] = ["", "\t", "Good morning! " * 60]
    (root / "in.txt").write_text("".join(f"{line}\n" for line in lines))
    (root / "in.txt.gz").write_bytes(gzip.compress((root / "in.txt").read_bytes()))
    run("translate", "en-de", "--input", root / "in.txt", "--output", root / "expected", *BEAM)
    return root


def run(verb: str, *options: str | Path) -> None:
    assert main([verb, *map(str, options)]) == 0


def test_bulk_gives_the_bytes_of_one_process(corpus: Path, tmp_path: Path) -> None:
    inputs = (corpus / "in.txt", corpus / "in.txt.gz")
    run("bulk", "en-de", *inputs, "--output", tmp_path, "--local", "--workers", "2", *BEAM)
    expected = (corpus / "expected").read_bytes()
    assert (tmp_path / "in.txt").read_bytes() == expected
    assert gzip.decompress((tmp_path / "in.txt.gz").read_bytes()) == expected
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["rows"] == 2800 and manifest["translated"] == 1400


def test_shards_and_compressed_files_of_sieve_translate(corpus: Path, tmp_path: Path) -> None:
    parts = []
    for shard in ("1/2", "2/2"):
        output = tmp_path / f"{shard[0]}.gz"
        files = ("--input", corpus / "in.txt.gz", "--output", output)
        run("translate", "en-de", *files, "--shard", shard, *BEAM)
        parts.append(gzip.decompress(output.read_bytes()))
        assert json.loads(Path(f"{output}.manifest.json").read_text())["options"]["shard"] == shard
    assert b"".join(parts) == (corpus / "expected").read_bytes()
    assert all(parts)


def test_killed_and_resumed(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "sieve.cli",
        "bulk",
        "en-de",
        str(corpus / "in.txt"),
        "--local",
    ]
    command += ["--output", str(output), "--workers", "1", "--resume", *BEAM]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not list(output.glob(".pieces/*/*.jsonl")) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (output / "in.txt").exists()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "resuming: 1 of 2 pieces are finished" in done.stderr
    assert (output / "in.txt").read_bytes() == (corpus / "expected").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("bulk", "en-de", "{in}", "--output", "{out}", "--local", "--address", "auto"),
         "got --local and --address, expected one of them"),
        (("bulk", "en-xx", "{in}", "--output", "{out}", "--local"), "no built-in model"),
        (("bulk", "en-de", "{in}", "--output", "{out}", "--local", "--selection", "lexicon:5"),
         "lexicon"),
        (("bulk", "en-de", "{in}", "--output", "{out}", "--local", "--workers", "0"),
         "--workers: got 0, expected 1 or more"),
        (("bulk", "en-de", "{in}", "--output", "{out}", "--local", "--shard", "0/3"),
         "--shard: got '0/3'"),
        (("translate", "en-de", "--shard", "1/3"), "--shard requires --input FILE and --output"),
        (("translate", "en-de", "--input", "{in}", "--output", "{out}.gz", "--json"),
         "a compressed file does not support --json"),
        (("translate", "en-de", "--input", "{in}", "--output", "{out}", "--shard", "1/2",
          "--format", "html"), "lines are translated, not --format html"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line(
    corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    message: str,
) -> None:
    places = {"in": corpus / "in.txt", "out": tmp_path / "out"}
    assert main([option.format(**places) for option in options]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())
