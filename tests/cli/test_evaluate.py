"""`sieve evaluate` with random weights: what is shown, what is written, what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from directories import write_model
from toy_lexicon import random_lexicon

from sieve.cli.main import main
from sieve.evaluate.measure.curve import THRESHOLDS


@pytest.fixture(scope="module")
def model(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("evaluate") / "model"
    config, _ = write_model(directory, toy_data.corpus, int8=True)
    (directory.parent / "lexicon").mkdir()
    random_lexicon(config.src_vocab_size).save(directory.parent / "lexicon")
    (directory.parent / "small").mkdir()
    random_lexicon(50).save(directory.parent / "small")
    return directory


def test_tables(
    model: Path, toy_data: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = f"{toy_data.valid_src},{toy_data.valid_tgt}"
    prefix = str(toy_data.valid_src).removesuffix(".xx")
    code = main(
        [
            "evaluate", str(model), "--test", f"toy={files}", prefix, "--sentences", "5",
            "--lexicon", str(model.parent / "lexicon"), "--selection", "lexicon:2,nvs:0.4",
            "--json", str(tmp_path / "out.json"), "--markdown", str(tmp_path / "out.md"),
            "--latency-sentences", "2", "--beam-size", "1",
        ]
    )  # fmt: skip
    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert "toy: 5 sentences" in shown.out and "valid: 5 sentences" in shown.out
    assert [line.split()[0] for line in shown.out.splitlines()[1:5]] == [
        "selection", "none", "lexicon:2", "nvs:0.4",
    ]  # fmt: skip
    assert f"### toy: 5 sentences, {model}" in (tmp_path / "out.md").read_text()
    found = json.loads((tmp_path / "out.json").read_text())
    assert len(found["rows"]) == 6
    row = found["rows"][1]
    assert row["selection"] == "lexicon:2"
    assert {"value", "interval", "p_value", "signature"} <= set(row["quality"][0])
    assert row["signature"].startswith("test:toy|sentences:5|selection:lexicon:2|beam:1|")


def test_idioms(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.tsv").write_text("bda fga\tFGA BDA\tfga\tFGA\n")
    out = tmp_path / "out.json"
    options = ["--idioms", str(tmp_path / "mine.tsv"), "--selection", "none,nvs:0.4"]
    assert main(["evaluate", str(model), *options, "--json", str(out)]) == 0
    shown = capsys.readouterr().out
    header = " ".join(shown.splitlines()[1].split())
    assert header == "selection sentence idiom (b) idiom (c) idiom (a)"
    assert "idiom (a): 1 of 1 sentences need" in shown
    rows = json.loads(out.read_text())["idioms"]
    assert len(rows) == 2 * 4
    assert {row["recall"] for row in rows if row["selection"] == "none"} == {1.0}


def test_context(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.tsv").write_text("bda fga\tFGA BDA\tfga\tFGA\n")
    out = tmp_path / "out.json"
    options = ["--context", "--idioms", str(tmp_path / "mine.tsv"), "--json", str(out)]
    assert main(["evaluate", str(model), *options]) == 0
    assert "% of segments with all idiom tokens selected" in capsys.readouterr().out
    assert len(json.loads(out.read_text())["context"][str(model)]) == 4


def test_aligners(
    model: Path, toy_data: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix, out = str(toy_data.valid_src).removesuffix(".xx"), tmp_path / "out.json"
    lexicon = model.parent / "lexicon"
    options = ["--test", prefix, "--sentences", "4", "--beam-size", "1", "--json", str(out)]
    aligners = ["--aligners", f"one={lexicon}", str(lexicon)]
    assert main(["evaluate", str(model), *options, *aligners]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["lexicon", "one", "lexicon"]
    rows = json.loads(out.read_text())["aligners"]
    assert [(row["lexicon"], row["k"]) for row in rows] == [
        ("one", 200), ("one", 1000), ("lexicon", 200), ("lexicon", 1000),
    ]  # fmt: skip
    assert rows[0]["reference"] == rows[2]["reference"]


def test_each_model_for_itself(
    model: Path, toy_data: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = str(toy_data.valid_src).removesuffix(".xx")
    again = str(model.parent / "lexicon" / ".." / "model")
    options = ["--test", prefix, "--sentences", "3", "--latency-sentences", "0", "--each"]
    assert main(["evaluate", str(model), again, *options, "--beam-size", "1"]) == 0
    shown = capsys.readouterr().out
    assert f"3 sentences, {model}" in shown and f"3 sentences, {again}" in shown


def test_curve(
    model: Path, toy_data: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    prefix = str(toy_data.valid_src).removesuffix(".xx")
    (tmp_path / "mine.tsv").write_text("bda fga\tFGA BDA\tfga\tFGA\n")
    code = main(
        [
            "evaluate", str(model), "--curve", "--test", prefix, "--idioms",
            str(tmp_path / "mine.tsv"), "--lexicon", str(model.parent / "lexicon"),
            "--json", str(tmp_path / "curve.json"), "--figure", str(tmp_path / "curve"),
        ]
    )  # fmt: skip
    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert "nvs:1e-06" in shown.out and "lexicon:10000" in shown.out
    assert (tmp_path / "curve.png").is_file() and (tmp_path / "curve.svg").is_file()
    curves = json.loads((tmp_path / "curve.json").read_text())["curves"]
    assert len(curves) == 2 * (1 + 4)
    assert len(curves[0]["points"]) == len(THRESHOLDS) and len(curves[1]["points"]) == 19


def test_what_the_model_cannot_do_is_left_out_by_default(
    model: Path, toy_data: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    files = f"{toy_data.valid_src},{toy_data.valid_tgt}"
    options = ["--sentences", "2", "--latency-sentences", "0", "--beam-size", "1"]
    again = str(model.parent / "lexicon" / ".." / "model")
    assert main(["evaluate", str(model), again, "--test", files, *options]) == 0
    shown = capsys.readouterr().out
    assert "lexicon:" not in shown and "nvs:0.99" in shown and "p50" not in shown
    assert "mean ± standard deviation over 2 models" in shown and "±0.0" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to evaluate: give test sets with --test SET …"),
        (["{model}", "--test", "{a}"], "expected different models"),
        (["--test", "nowhere"], "nowhere.xx not found; expected a prefix of .xx and .yy"),
        (["--test", "{a}", "{a}"], "got the names valid, valid, expected different ones"),
        (["--test", "{a}", "--selection", "nsv:0.9"], "did you mean 'nvs'"),
        (["--test", "{a}", "--selection", "lexicon:5"], "has no lexicon.safetensors"),
        (["--test", "{a}", "--lexicon", "{small}"], "is of 50 source and 50 target tokens"),
        (["--test", "{a}", "--lexicon", "nowhere"], "nowhere"),
        (["--test", "{a}", "--sentences", "0"], "--sentences: got 0, expected 1 or more"),
        (["--test", "{a}", "--latency-sentences", "-1"], "--latency-sentences: got -1"),
        (["--test", "{a}", "--json", "no/where.json"], "no/where.json: cannot be written"),
        (["--test", "{a}", "--figure", "curve"], "--figure requires --curve"),
        (["--test", "{a}", "--context"], "--context requires sets of idioms (--idioms SET …)"),
        (["--idioms", "{a}", "--context", "--curve"], "got --curve and --context, expected one"),
        (["--idioms", "{a},{a}", "--context"], "has proverbs, expected idioms in sentences"),
        (
            ["--test", "{a}", "--lexicon", "{small}", "{small}"],
            "--lexicon: got 2 for 1 models, expected one or as many",
        ),
        (
            ["--idioms", "{a}", "--aligners", "{small}"],
            "--aligners requires one model and test sets",
        ),
        (["--test", "{a}", "--aligners", "{small}"], "is of 50 source and 50 target tokens"),
        (["--idioms", "nowhere"], "nowhere.info not found; expected a .tsv"),
        (["--test", "{a}", "--comet", "nowhere"], "nowhere holds 0 .ckpt files"),
        (["--test", "{a}", "--beam-size", "0"], "beam_size: got 0, expected at least 1"),
    ],
)
def test_errors_are_one_line(
    model: Path,
    toy_data: Any,
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = {
        "a": str(toy_data.valid_src).removesuffix(".xx"),
        "model": str(model),
        "small": str(model.parent / "small"),
    }
    options = [option.format(**files) for option in options]
    assert main(["evaluate", str(model), *options]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("sieve evaluate: ")
    assert message in last
