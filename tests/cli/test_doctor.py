"""`sieve doctor` with and without models."""

import json
from pathlib import Path
from typing import Any

import pytest
from directories import write_model

from sieve.cli import doctor
from sieve.cli.main import main
from sieve.engines.native.native_engine import available_kernels


@pytest.fixture(autouse=True)
def soon_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "SECONDS", 0.05)


@pytest.fixture
def models(toy_data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_model(tmp_path / "aa-bb", toy_data.corpus, int8=True)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{")
    monkeypatch.setenv("SIEVE_MODELS", str(tmp_path))
    return tmp_path


def test_json(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kernels"]["available"] == available_kernels()
    assert found["kernels"]["chosen"] in available_kernels()
    assert found["cpu"]["cores"] >= 1
    assert found["models"]["aa-bb"]["weights"] == "int8"
    assert found["models"]["aa-bb"]["languages"] == ["xx", "yy"]
    assert "broken: not a model directory" in found["models"]["broken"]["error"]
    test = found["test"]
    assert test["model"] == "aa-bb"
    assert test["sentences"] >= 1
    assert 0 < test["milliseconds"] <= test["p90_milliseconds"]
    assert str(models) not in json.dumps({**found, "models": {}})  # no places on the disk


def test_for_people(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(models / "aa-bb")]) == 0
    shown = capsys.readouterr().out
    for label in ("sieve ", "cpu ", "features ", "kernels ", "packages ", "model ", "test "):
        assert any(line.startswith(label) for line in shown.splitlines()), label
    assert " ms per sentence, 9 of 10 within " in shown
    assert "\x1b" not in shown


def test_without_models(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sieve.bundle.catalogue.built_in", dict)
    assert main(["doctor"]) == 0
    assert "none built in; give a directory" in capsys.readouterr().out


def test_no_such_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "no/such"]) == 2
    assert capsys.readouterr().err.startswith("sieve doctor: no/such: ")


def test_unknown_kernels(
    models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIEVE_KERNELS", "abacus")
    assert main(["doctor"]) == 2
    assert "SIEVE_KERNELS: got 'abacus', this CPU has " in capsys.readouterr().err
