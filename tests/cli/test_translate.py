"""`sieve translate` in a process of its own: a model with random weights says enough here."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from sieve.cli.main import main
from sieve.cli.translate import _arriving_lines
from sieve.model.checkpoint import save_model
from sieve.model.config import ModelConfig
from sieve.model.translation import TranslationModel
from sieve.text.corpus import Corpus


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizers = Corpus.open(toy_data.corpus).tokenizers()
    V = tokenizers.target.vocab_size
    torch.manual_seed(0)
    dimensions = ModelConfig(V, V, 1, 1, 16, 32, 2)
    directory = tmp_path_factory.mktemp("model") / "xx-yy"
    metadata = {"languages": ["xx", "yy"], "selection": {"threshold": 0.9}}
    save_model(directory, TranslationModel(dimensions), tokenizers, metadata)
    return directory


def command(model: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "sieve.cli", "translate", str(model), *options]


def test_lines_in_lines_out(model: Path) -> None:
    text = b"bda fga\n\nbr\xff\xfea\n   \nbda fga\nbda"
    done = subprocess.run(
        command(model, "--selection", "none", "--json"), input=text, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == 6  # the last line had no newline
    assert [one["text"] == "" for one in found][1] and found[3]["text"] == ""
    assert found[0] == found[4]
    assert found[0]["shortlist_size"] == found[0]["vocab_size"] == 400
    assert "line 3: invalid UTF-8 at byte 3" in done.stderr.decode()


def test_an_answer_does_not_wait_for_more_input(model: Path) -> None:
    with subprocess.Popen(
        command(model), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin and process.stdout
        for line in (b"\n", b"bda\n"):
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()  # would hang
            assert answer.endswith(b"\n")
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait() == 0


def reader(chunks: Sequence[bytes]) -> Any:
    waiting: Iterator[bytes] = iter([*chunks, b""])
    return lambda size: next(waiting)


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([], []),
        ([b"a\nb\nc"], [["a", "b"], ["c"]]),
        ([b"a", b"b\n", b"\n"], [["ab"], [""]]),
        ([b"\xc3", b"\xa4\r\n"], [["ä"]]),
        (["a\u2028b\x0cc\n".encode()], [["a\u2028b\x0cc"]]),
    ],
)
def test_arriving_lines(chunks: list[bytes], expected: list[list[str]]) -> None:
    assert list(_arriving_lines(reader(chunks))) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--selection", "lexicon:5"], "the model directory has no lexicon.safetensors"),
        (["--selection", "nsv"], "unknown selection 'nsv'; did you mean 'nvs'?"),
        (["--max-length-factor", "0"], "max_length_factor: got 0.0, expected a number above 0"),
    ],
)
def test_errors_are_one_line(
    model: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["translate", str(model), *options]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("sieve translate: ")
    assert message in last


def test_no_such_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", str(tmp_path / "none")]) == 2
    assert "none: no such model directory" in capsys.readouterr().err
