"""The scripts of examples/ run as their first lines say, on small files."""

import csv
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from directories import write_model

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(script: str, *arguments: str | Path, fails: bool = False) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / script, *arguments],
        env={**os.environ, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


def test_every_script_is_listed_and_run() -> None:
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts == {part.split("](")[0] for part in _listed().split("| [")[1:]}
    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("*.py"))
    assert all(f'"{script}"' in tests for script in scripts)


def _listed() -> str:
    return (EXAMPLES / "README.md").read_text("utf-8")


def test_texts() -> None:
    lines = run("translate_texts.py").splitlines()
    assert lines[0] == "Die Sitzung beginnt am Montag um 9 Uhr."
    assert "<Enter>" in lines[1] and "warnings ()" in lines[1]
    assert lines[2].startswith("\t")
    assert len(lines) == 8 and '"shortlist_size": ' in lines[-1]


@pytest.fixture
def server() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "sieve.cli", "serve", "en-de", "--port", port]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                try:
                    socket.create_connection(("127.0.0.1", int(port)), 1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def test_client(server: str) -> None:
    output = run("ask_server.py", "Good morning.", "Thank you!", "--server", server)
    assert output.splitlines() == ["Guten Morgen.", "Danke!"]
    refused = run("ask_server.py", "Hi.", "--server", server, "--target", "xx", fails=True)
    assert refused.startswith("400: ") and "xx" in refused


def test_client_without_a_server() -> None:
    assert "start `sieve serve` first" in run(
        "ask_server.py", "Hi.", "--server", "http://127.0.0.1:9", fails=True
    )


def test_column(tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="pandas is no dependency")
    table = tmp_path / "reviews.csv"
    table.write_text("id,review\n1,The house is small.\n2,\n3,Good morning!\n", "utf-8")
    output = tmp_path / "reviews.de.csv"
    assert run("translate_column.py", table, "--column", "review", "--output", output).startswith(
        "2 of 3 cells translated, 0"
    )
    with output.open(encoding="utf-8", newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert rows["1"]["translation"] == "Das Haus ist klein." and rows["2"]["translation"] == ""
    assert 0 < float(rows["3"]["confidence"]) <= 1


def test_attaching(tmp_path: Path, toy_data: Any) -> None:
    write_model(tmp_path / "model", toy_data.corpus, int8=True, nvs_head="none")
    words = [first + second for first in ("bab", "ded", "gug", "kik") for second in "oaei"]
    lines = [f"{a} {b} {c}" for a in words for b in words for c in words]
    (tmp_path / "text.xx").write_text("\n".join(lines[:4000]) + "\n", "utf-8")
    (tmp_path / "test.xx").write_text("\n".join(lines[4000:4040]) + "\n", "utf-8")
    output = run(
        "attach_head.py",
        tmp_path / "model",
        tmp_path / "text.xx",
        *("--test", tmp_path / "test.xx"),
        *("--output", tmp_path / "selected"),
        *("--minutes", "0.05", "--size", "60"),
    )
    assert "of 40 outputs are those of all" in output and "tokens a shortlist" in output


@pytest.mark.slow  # make test-slow installs Ray, which warns of itself
def test_ray_dataset(tmp_path: Path) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason="needs the extra ray")
    (tmp_path / "in.jsonl").write_text('{"text": "Good morning!"}\n{"text": null}\n')
    options = [str(tmp_path / "in.jsonl"), "--actors", "1", "--column", "text"]
    script = [sys.executable, str(EXAMPLES / "ray_dataset.py"), *options]
    done = subprocess.run(
        [*script, "--output", str(tmp_path / "out")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    table = parquet.read_table(tmp_path / "out")
    assert sorted(table["text_translation"].to_pylist(), key=str) == ["Guten Morgen!", None]
    assert table["text_error"].null_count == 2
