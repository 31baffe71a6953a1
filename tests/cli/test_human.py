"""`sieve human`: from a model or files to sheets, from sheets to a table, and what is refused."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from directories import write_model

from sieve.cli.main import main


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("human") / "model"
    write_model(directory, toy_data.corpus, int8=True)
    return directory


def fill(path: Path, rating: str) -> None:
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    first = header.index("rating A")
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *([*row[:first], rating, rating] for row in rows)])


def test_from_model_to_table(
    model: Path, toy_data: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix, out = str(toy_data.valid_src).removesuffix(".xx"), tmp_path / "rating"
    options = ["--selection", "none,nvs:0.9", "--number", "4", "--beam-size", "1", "-o", str(out)]
    assert main(["human", "sample", str(model), "--test", prefix, *options]) == 0
    assert "give away" in capsys.readouterr().err
    sheets = sorted((out / "sheets").glob("*.csv"))
    assert len(sheets) == 2
    score = ["human", "score", str(out / "key.json"), *map(str, sheets)]
    assert main(score) == 2
    assert "8 of 8 ratings are missing" in capsys.readouterr().err
    for sheet, rating in zip(sheets, ("4.2", "5"), strict=True):
        fill(sheet, rating)
    files = ["--json", str(tmp_path / "out.json"), "--markdown", str(tmp_path / "out.md")]
    assert main([*score, *files]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("valid: 4 segments rated from 1 to 6\n")
    assert "100.0 ±0.0" in shown
    (found,) = json.loads((tmp_path / "out.json").read_text())["human"]
    assert found["systems"][1]["rating"] == pytest.approx(4.6)
    assert "| nvs:0.9 |" in (tmp_path / "out.md").read_text()
    assert main(["human", "sample", str(model), "--test", prefix, *options]) == 2
    assert "holds a sample already, whose sheets may be out" in capsys.readouterr().err


def test_from_files(tmp_path: Path) -> None:
    for name, text in (("src.en", "a\nb\n"), ("one.de", "x\ny\n"), ("two.de", "x\nz\n")):
        (tmp_path / name).write_text(text)
    systems = [f"one={tmp_path / 'one.de'}", f"two={tmp_path / 'two.de'}"]
    options = ["--source", str(tmp_path / "src.en"), "-o", str(tmp_path / "out")]
    assert main(["human", "sample", "--system", *systems, *options]) == 0
    key = json.loads((tmp_path / "out" / "key.json").read_text())
    assert key["lines"] == {"s1": 2} and key["test"] == "src"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected MODEL and --test SET, or --source FILE and --system NAME=FILE"),
        (["{model}"], "expected MODEL and --test SET"),
        (["{model}", "--test", "{a}", "--source", "{a}.xx"], "expected MODEL and --test SET"),
        (["{model}", "--test", "{a}", "--number", "0"], "--number: got 0, expected 1 or more"),
        (["{model}", "--test", "{a}", "--annotators", "0"], "--annotators: got 0"),
        (["{model}", "--test", "{a}", "--selection", "none"], "got 1 systems, expected 2 to 8"),
        (["--source", "{a}.xx", "--system", "x"], "--system 'x': expected NAME=FILE"),
        (["--source", "{a}.xx", "--system", "x={a}.xx", "x={a}.xx"], "expected different ones"),
        (["--source", "{a}.xx", "--system", "x={a}.xx", "y={a}.xx"], "no segment differs"),
    ],
)
def test_errors_are_one_line(
    model: Path,
    toy_data: Any,
    options: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    a = str(toy_data.valid_src).removesuffix(".xx")
    options = [option.format(model=model, a=a) for option in options]
    code = main(["human", "sample", *options, "--beam-size", "1", "-o", str(tmp_path / "out")])
    assert code == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("sieve human: ") and message in last
    assert not (tmp_path / "out").exists()
