"""`sieve calibrate`, and what a calibrated model can be asked for."""

import json
from pathlib import Path
from typing import Any

import pytest
from directories import write_model
from toy_lexicon import random_lexicon

import sieve
from sieve.cli.main import main
from sieve.files import read_json, write_json


@pytest.fixture
def model(toy_data: Any, tmp_path: Path) -> Path:
    directory = tmp_path / "model"
    write_model(directory, toy_data.corpus, int8=True)
    return directory


def calibrated(model: Path, toy_data: Any, *options: str) -> dict[str, Any]:
    argv = ["calibrate", str(model), str(toy_data.valid_src), "--size", "60", "--threads", "1"]
    assert main([*argv, *options]) == 0
    section: dict[str, Any] = read_json(model / "config.json")["selection"]
    return section


def test_everything_is_stored(
    model: Path, toy_data: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    section = calibrated(model, toy_data, "--least", "20")
    told = json.loads(capsys.readouterr().out)
    assert section["threshold"] == 0.9
    assert section["least"] == 20
    assert told["mean_words"] <= 60
    translator = sieve.load(model, threads=1)
    found = translator.translate("bda kla pte")
    assert found.shortlist_size >= 20
    assert found.confidence is not None
    assert 0 <= found.confidence <= 1
    assert translator.translate("bda kla pte", selection="none").confidence == 1.0
    assert str(translator.selector()) == "nvs:0.9:20:0.015+safe"


def test_the_lexicon_becomes_part_of_the_default(
    model: Path, toy_data: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    config = read_json(model / "config.json")["model"]
    random_lexicon(config["src_vocab_size"], entries=12).save(model)
    section = calibrated(model, toy_data, "--least", "0", "--fuse")
    told = json.loads(capsys.readouterr().out)
    assert section["fusion"]["kind"] == "rank"
    assert told["bonus"] == [round(value, 2) for value in section["fusion"]["bonus"]]
    translator = sieve.load(model, threads=1)
    assert str(translator.selector()) == "fused:0.9:0:0.015+safe"
    assert str(translator.selector("nvs:recall=0.5")).startswith("fused:")
    fused = translator.translate("bda kla pte", selection="fused")
    assert fused.shortlist_size != translator.translate("bda kla pte", threshold=0.9).shortlist_size
    assert main(["translate", str(model), "--input", str(toy_data.valid_src)]) == 0
    assert "fusion" not in calibrated(model, toy_data, "--least", "0")  # of the head alone again
    assert str(sieve.load(model, threads=1).selector()) == "nvs:0.9:0:0.015+safe"


def test_fusing_needs_a_lexicon(
    model: Path, toy_data: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", str(model), str(toy_data.valid_src), "--fuse"]) == 2
    assert (
        f"{model}: has no lexicon.safetensors to add to its head; make one with sieve lexicon "
        in (capsys.readouterr().err)
    )


def test_damaged_bonuses(model: Path, toy_data: Any, capsys: pytest.CaptureFixture[str]) -> None:
    config = read_json(model / "config.json")
    config["selection"] = {"fusion": {"kind": "rank", "edges": [1, 2], "bonus": [3]}}
    write_json(model / "config.json", config)
    assert main(["translate", str(model), "--input", str(toy_data.valid_src)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "the bonuses of selection.fusion are damaged; run sieve calibrate --fuse again" in line
    config["selection"] = {}
    write_json(model / "config.json", config)
    argv = ["translate", str(model), "--input", str(toy_data.valid_src), "--selection", "fused:0.9"]
    assert main(argv) == 2
    assert "the model directory has no lexicon.safetensors" in capsys.readouterr().err


def test_the_dial(
    model: Path, toy_data: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrated(model, toy_data, "--least", "0")
    text = tmp_path / "in.txt"
    text.write_text("bda kla pte\nsto\n")

    def sizes(*options: str) -> list[int]:
        capsys.readouterr()
        argv = ["translate", str(model), "--input", str(text), "--json", *options]
        assert main(argv) == 0
        lines = capsys.readouterr().out.splitlines()
        return [json.loads(line)["shortlist_size"] for line in lines]

    few, many = sizes("--target-recall", "0.5"), sizes("--target-recall", "0.97")
    assert all(a <= b for a, b in zip(few, many, strict=True))
    assert sum(few) < sum(many)
    assert sum(sizes("--max-shortlist", "100")) < sum(sizes("--max-shortlist", "300"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target-recall", "1.5"], "target recall: got 1.5, expected above 0 and below 1"),
        (["--target-recall", "x"], "got 'x', expected a number"),
        (["--max-shortlist", "1"], "maximum shortlist size: got 1, expected at least"),
    ],
)
def test_what_the_dial_does_not_know(
    model: Path,
    toy_data: Any,
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    calibrated(model, toy_data)
    capsys.readouterr()
    assert main(["translate", str(model), "--input", str(toy_data.valid_src), *options]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("part", ["least", "safe", "calibration", "confidence"])
def test_damaged_configuration(
    model: Path, toy_data: Any, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrated(model, toy_data)
    config = read_json(model / "config.json")
    config["selection"][part] = "nonsense"
    write_json(model / "config.json", config)
    capsys.readouterr()
    assert main(["translate", str(model), "--input", str(toy_data.valid_src)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert str(model) in line


def test_refused(
    model: Path, toy_data: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = read_json(model / "config.json")
    empty = tmp_path / "empty.txt"
    empty.write_text("\n\n")
    for argv, message in (
        ([model, tmp_path / "none.txt"], "none.txt"),
        ([model, empty], "no development sentences"),
        ([tmp_path / "nothing", toy_data.valid_src], "nothing: no such model directory"),
        ([model, toy_data.valid_src, "--size", "1"], "size: got 1, expected at least 2"),
        ([model, toy_data.valid_src, "--size", "9999"], "select nothing; choose a smaller size"),
    ):
        assert main(["calibrate", *map(str, argv)]) == 2
        shown = capsys.readouterr()
        assert message in shown.err
        assert shown.out == ""
    assert read_json(model / "config.json") == before
    write_model(tmp_path / "bare", toy_data.corpus, nvs_head="none")
    bare = ["calibrate", str(tmp_path / "bare"), str(toy_data.valid_src), "--size", "60"]
    assert main(bare) == 2
    assert "head" in capsys.readouterr().err
