"""Verbs that read a model take the name of a built-in one, too, and leave it as it is."""

from pathlib import Path

import pytest

from sieve.bundle.catalogue import VARIABLE, built_in
from sieve.cli.main import main


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    if "en-de" not in built_in():
        pytest.skip("the built-in models are not here")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.en").write_text("Hello there.\nHow are you?\n")
    (tmp_path / "a.de").write_text("Hallo da.\nWie geht es dir?\n")
    return "a.en", "a.de"


def test_its_tokenizer_prepares_text(pair: tuple[str, str], tmp_path: Path) -> None:
    options = ["--languages", "en", "de", "--no-language-check", "--max-length-ratio", "off"]
    assert (
        main(["prepare", "--pair", *pair, *options, "--tokenizer", "en-de", "--output", "c"]) == 0
    )
    assert main(["lexicon", "align", "c", "--model", "en-de", "--output", "links"]) == 0
    assert len((tmp_path / "links").read_text().splitlines()) == 2


def test_it_is_converted_elsewhere_only(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", "en-de", "--float16"]) == 2
    assert "a built-in model stays as it is; give --output DIR" in capsys.readouterr().err
    assert main(["convert", "en-de", "--float16", "--output", "half"]) == 0
    assert (tmp_path / "half" / "model.safetensors").is_file()


def test_it_is_adapted(pair: tuple[str, str], tmp_path: Path) -> None:
    options = ["--head-only", "--epochs", "1", "--output", "mine"]
    assert main(["adapt", "en-de", "--pair", *pair, *options]) == 0
    assert (tmp_path / "mine" / "model.safetensors").is_file()


def test_a_name_that_is_not_there(
    pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert main(["adapt", "xx-yy", "--pair", *pair, "--output", "mine"]) == 2
    assert "no built-in model of that name" in capsys.readouterr().err
