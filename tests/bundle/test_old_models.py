"""Model directories that Sieve 0.1 wrote are read: docs/versions.md promises it for format 1.

`written_by_0_1` was made with the commands of 0.1 (prepare, train, average, lexicon build, convert,
calibrate) from a generated language; `recorded.json` holds what 0.1 translated with it.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest

import sieve
from sieve.cli.main import main
from sieve.errors import SieveError
from sieve.files import read_json, write_json

WRITTEN = Path(__file__).with_name("written_by_0_1")
RECORDED = read_json(WRITTEN / "recorded.json")
CASES = [(name, kind) for name, kinds in RECORDED["outputs"].items() for kind in kinds]
ROUNDING = 0.05
"""Of a score: 0.2 sums in another order than 0.1 did."""


def test_it_was_written_by_0_1() -> None:
    assert RECORDED["written_by"] == "sieve 0.1.0"
    assert not list(WRITTEN.glob("*/manifest.json"))  # which 0.2 writes


@pytest.mark.parametrize(("name", "selection"), CASES)
def test_translates_as_it_did(name: str, selection: str) -> None:
    translator = sieve.load(WRITTEN / name, threads=1)
    given = None if selection == "default" else selection
    lines, beam_size = RECORDED["lines"], RECORDED["beam_size"]
    translations = translator.translate(lines, selection=given, beam_size=beam_size, repair=False)
    expected = RECORDED["outputs"][name][selection]
    assert [[t.text, t.shortlist_size] for t in translations] == [row[:2] for row in expected]
    scores = [row[2] for row in expected]
    assert [t.score for t in translations] == pytest.approx(scores, abs=ROUNDING)


def test_the_dial_of_0_1_works() -> None:
    translator = sieve.load(WRITTEN / "int8", threads=1)
    line = RECORDED["lines"][1]
    sizes = [
        translator.translate(line, selection=f"nvs:{goal}").shortlist_size
        for goal in ("recall=0.5", "recall=0.99", "size=20", "size=200")
    ]
    assert sizes[0] < sizes[1] and sizes[2] < sizes[3]
    assert 0 < (translator.translate(line).confidence or 0) <= 1


def test_0_2_converts_it(tmp_path: Path) -> None:
    assert main(["convert", str(WRITTEN / "float32"), "--int8", "-o", str(tmp_path / "new")]) == 0
    assert (tmp_path / "new" / "manifest.json").is_file()
    line = RECORDED["lines"][0]
    new, old = (sieve.load(path) for path in (tmp_path / "new", WRITTEN / "int8"))
    assert new.translate(line, selection="none").ids == old.translate(line, selection="none").ids


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format_version": 2}, "got format_version 2, this version of Sieve reads 1"),
        ({"format_version": None}, "got format_version None, this version of Sieve reads 1"),
        ({"model": {"d_modle": 32}}, "d_modle"),
    ],
)
def test_what_is_newer_is_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    directory = tmp_path / "model"
    shutil.copytree(WRITTEN / "int8", directory)
    config = read_json(directory / "config.json")
    config |= {**changes, "model": {**config["model"], **changes.get("model", {})}}
    write_json(directory / "config.json", config)
    with pytest.raises(SieveError, match=message):
        sieve.load(directory)
