"""`sieve benchmark` on a model with random weights: what is shown, written, refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from directories import write_model

from sieve.cli.main import main


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("benchmark") / "model"
    write_model(directory, toy_data.corpus, int8=True)
    return directory


def test_table_and_files(
    model: Path, toy_data: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = str(toy_data.valid_src).removesuffix(".xx")
    code = main(
        [
            "benchmark", str(model), "--test", prefix, "--runs", "2", "--sentences", "3",
            "--selection", "nvs:0.4", "--json", str(tmp_path / "out.json"),
            "--markdown", str(tmp_path / "out.md"),
        ]
    )  # fmt: skip
    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert [line.split()[0] for line in shown.out.splitlines()[:4]] == [
        "valid:", "selection", "none", "nvs:0.4",
    ]  # fmt: skip
    assert "| nvs:0.4 |" in (tmp_path / "out.md").read_text()
    rows = json.loads((tmp_path / "out.json").read_text())["benchmark"]
    assert [len(row["runs"]) for row in rows] == [2, 2]
    assert rows[0]["relative"] == {"value": 1.0, "interval": 0.0, "number": 2}
    assert "|threads:1|cpu:" in rows[1]["signature"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--runs", "0"], "--runs: got 0, expected 1 or more"),
        (["--sentences", "0"], "--sentences: got 0, expected 1 or more"),
        (["--warm-up", "-1"], "--warm-up: got -1, expected 0 or more"),
        (["--threads", "0"], "--threads: got 0, expected 1 or more"),
        (["--beam-size", "0"], "beam_size: got 0, expected at least 1"),
        (["--selection", "nsv:0.9"], "did you mean 'nvs'"),
        (["--selection", "lexicon:5"], "has no lexicon.safetensors"),
        (["--json", "no/where.json"], "no/where.json: cannot be written"),
        (["{model}"], "expected different models"),
    ],
)
def test_errors_are_one_line(
    model: Path,
    toy_data: Any,
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    prefix = str(toy_data.valid_src).removesuffix(".xx")
    options = [option.format(model=model) for option in options]
    assert main(["benchmark", str(model), *options, "--test", prefix]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("sieve benchmark: ")
    assert message in last
