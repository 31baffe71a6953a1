"""Built-in models are found by name, and nothing else is."""

# private: where models lie in an installation

import os
from pathlib import Path
from typing import Any

import pytest
from directories import write_model

import sieve
from sieve.bundle import catalogue as shipped
from sieve.cli.main import main
from sieve.errors import ModelError


@pytest.fixture
def models(tmp_path: Path, toy_data: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the models xx-yy and yy-xx, and something that is none."""
    folder = tmp_path / "models"
    for name in ("xx-yy", "yy-xx"):
        write_model(folder / name, toy_data.corpus, int8=True)
    (folder / "notes").mkdir()
    monkeypatch.setenv("SIEVE_MODELS", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def test_by_name(models: Path) -> None:
    by_name = sieve.load("xx-yy").translate("bba dde")
    assert by_name == sieve.load(models / "xx-yy").translate("bba dde")
    assert shipped.find_model(Path("yy-xx")) == models / "yy-xx"


def test_on_the_command_line(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = models / "text"
    text.write_text("bba dde\n")
    assert main(["translate", "xx-yy", "--input", str(text)]) == 0
    expected = sieve.load(models / "xx-yy").translate("bba dde").text
    assert capsys.readouterr().out.split() == expected.split()
    assert main(["translate", "zz-yy", "--input", str(text)]) == 2
    assert "zz-yy: no such model directory, and no built-in model" in capsys.readouterr().err


def test_an_unknown_name_is_told_the_names_there_are(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelError) as caught:
        sieve.load("en-xx")
    message = str(caught.value)
    assert message.startswith("en-xx: no such model directory, and no built-in model of that name")
    assert "xx-yy, yy-xx" in message
    assert "notes" not in message
    monkeypatch.setattr(shipped, "_folders", list)
    with pytest.raises(ModelError, match=r"\(there: none\)"):
        sieve.load("en-xx")


def test_paths_are_paths(models: Path) -> None:
    with pytest.raises(ModelError, match=r"^elsewhere/xx-yy: no such model directory$"):
        sieve.load("elsewhere/xx-yy")
    (models.parent / "xx-yy").mkdir()  # a directory of one's own, here and now
    with pytest.raises(ModelError, match="xx-yy: not a model directory"):
        sieve.load("xx-yy")


def test_folders_in_their_order(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tmp_path / "first"
    (first / "xx-yy").mkdir(parents=True)
    (first / "xx-yy" / "config.json").write_text("{}")
    monkeypatch.setenv("SIEVE_MODELS", os.pathsep.join([str(first), "", str(models)]))
    assert shipped.find_model("xx-yy") == first / "xx-yy"
    assert shipped.find_model("yy-xx") == models / "yy-xx"
    package = Path(sieve.__file__).parent
    assert package / "models" in shipped._folders()
