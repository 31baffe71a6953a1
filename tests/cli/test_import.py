"""`sieve import`, `sieve models`, and verbs that take another toolkit's model as it is."""

import json
from pathlib import Path

import pytest
from marian_files import firefox_directory

from sieve.cli.main import main


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIEVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SIEVE_MODELS", raising=False)


def test_import_says_what_came_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = firefox_directory(tmp_path / "student-en-pt")
    made = tmp_path / "made"
    assert main(["import", str(folder), "-o", str(made), "--licence", "CC-BY-4.0"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == f"{made}: en to pt, firefox, int8"
    assert out[1].startswith("alignment: ") and out[2].startswith("lexicon: ")
    config = json.loads((made / "config.json").read_text())
    assert config["origin"]["licence"] == "CC-BY-4.0"
    assert main(["import", str(folder), "-o", str(made)]) == 2
    assert "made: already exists; choose another --output" in capsys.readouterr().err


def test_options_go_before_what_the_content_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = firefox_directory(tmp_path / "student-en-pt")
    sample = tmp_path / "sample.txt"
    sample.write_text("the cat sat\n\ntwo dogs ran\n")
    made = tmp_path / "made"
    arguments = ["import", str(folder / "model.enpt.intgemm.alphas.bin"), "-o", str(made)]
    arguments += ["--languages", "de", "fr", "--float32", "--sample", str(sample)]
    assert main([*arguments, "--family", "firefox"]) == 0
    assert capsys.readouterr().out.startswith(f"{made}: de to fr, firefox, float32")
    assert main(["import", str(folder), "-o", str(tmp_path / "x"), "--family", "marian"]) == 2
    assert "not a model of the family marian" in capsys.readouterr().err
    assert main(["import", str(folder), "-o", str(tmp_path / "x"), "--languages", "E", "F"]) == 2
    assert "languages: got ('E', 'F'), expected two codes" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_translate_takes_the_model_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = firefox_directory(tmp_path / "student-en-pt")
    lines, output = tmp_path / "lines", tmp_path / "output"
    lines.write_text("the cat sat\n")
    arguments = ["translate", str(folder), "--input", str(lines), "--output", str(output)]
    assert main(arguments) == 0
    assert len(output.read_text().splitlines()) == 1
    assert main(["models", "--json"]) == 0
    entries = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {entry["kind"] for entry in entries} == {"built-in", "imported"}
    assert entries[-1]["languages"] == ["en", "pt"] and len(entries[-1]["origin"]["files"]) == 3


def test_models_lists_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = firefox_directory(tmp_path / "student-en-pt")
    assert main(["import", str(folder), "-o", str(tmp_path / "mine" / "portuguese")]) == 0
    capsys.readouterr()
    assert main(["models", str(tmp_path / "mine")]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].split()[:3] == ["name", "kind", "languages"]
    assert rows[-1].split()[:3] == ["portuguese", "local", "en-pt"]
    assert main(["models", str(tmp_path / "none")]) == 2
    assert "none: no such directory" in capsys.readouterr().err
