"""`sieve explain`: what is shown with and without colours, what is written, what is refused."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from directories import write_model
from toy_lexicon import random_lexicon

from sieve.cli.main import main
from sieve.files import read_json, write_json

SENTENCE = ["bda fga", "--reference", "FGA BDA", "--selection", "nvs:0.7"]


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("explain") / "model"
    write_model(directory, toy_data.corpus, int8=True)
    return directory


def test_text_and_page(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert main(["explain", str(model), *SENTENCE, "--html", str(page)]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[0] == "bda fga"
    assert "Reference, pieces out of reach [marked]" in shown
    assert "pieces unreachable)" in shown
    assert "Votes of each source word, λ = 0.7" in shown
    assert "\x1b" not in shown
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_shares_of_a_lexicon(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fused = tmp_path / "fused"
    shutil.copytree(model, fused)
    config = read_json(fused / "config.json")
    config["selection"] = {"fusion": {"kind": "rank", "edges": [60], "bonus": [1.25]}}
    write_json(fused / "config.json", config)
    words = config["model"]["src_vocab_size"]
    random_lexicon(words, entries=min(60, words - 4)).save(fused)
    argv = ["explain", str(fused), "bda fga", "--reference", "FGA BDA"]
    assert main([*argv, "--selection", "fused:0.7"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"0\.\d{4}  \S+  \+1\.25 by the lexicon: \S+, rank \d", shown)
    assert re.search(r"0\.\d{3} \(\+1\.2\)", shown)
    assert main([*argv, "--selection", "nvs:0.7"]) == 0
    assert "lexicon" not in capsys.readouterr().out


def test_json(model: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["explain", str(model), *SENTENCE, "--json"]) == 0
    found = json.loads(capfdbinary.readouterr().out)
    assert found["source"] == "bda fga"
    assert [system["selection"] for system in found["systems"]] == ["none", "nvs:0.7"]


@pytest.mark.parametrize("no_color", ["", "1"])
def test_colours_on_a_terminal(model: Path, no_color: str) -> None:
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "sieve.cli", "explain", str(model), *SENTENCE, "--top", "1"]
    environment = {**os.environ, "NO_COLOR": no_color}
    with subprocess.Popen(
        command, stdout=terminal, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(terminal)
        shown = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            shown += data
        assert process.wait() == 0
    os.close(master)
    assert (b"\x1b[1;31m" in shown) == (not no_color)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([" "], "the sentence is empty, expected one to explain"),
        (["bda", "--top", "-1"], "--top: got -1, expected 0 or more"),
        (["bda", "--html", "no/where.html"], "no/where.html: cannot be written"),
        (["bda", "--selection", "lexicon:5"], "has no lexicon.safetensors"),
    ],
)
def test_errors_are_one_line(
    model: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(model), *options]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("sieve explain: ")
    assert message in last
