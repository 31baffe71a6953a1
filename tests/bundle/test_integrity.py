"""A model directory holds what its manifest says, or is refused; what was opened stays."""

import hashlib
import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from child import printed
from damage import damage, outcome
from directories import unsealed, write_model

import sieve
from sieve.bundle.convert import convert
from sieve.bundle.directory import LEXICON_FILE, open_bundle
from sieve.bundle.integrity import MANIFEST_FILE, recorded, replacing, seal
from sieve.cli.main import main
from sieve.errors import ModelError
from sieve.files import file_hash, read_json, write_json
from sieve.repair.names import Names
from sieve.repair.word_set import WordSet
from sieve.selection.lexicon import Lexicon

MODELS = Path(__file__).parents[2] / "models"


@pytest.fixture(scope="module")
def sealed(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sealed") / "xx-yy"
    write_model(directory, toy_data.corpus, int8=True)
    Names(translated_source=WordSet.of(["house"])).save(directory)
    (directory / "MODEL_CARD.md").write_text("A card.\n")
    seal(directory)
    return directory


@pytest.fixture
def copy(sealed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sealed, tmp_path / "xx-yy"))


def test_the_manifest_has_the_hash_of_every_file_but_the_card(sealed: Path) -> None:
    expected = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sealed.iterdir()
        if path.name not in ("MODEL_CARD.md", "manifest.json")
    }
    assert read_json(sealed / MANIFEST_FILE) == {"format_version": 1, "files": expected}
    assert {"config.json", "model.safetensors", "names.safetensors"} < expected.keys()


def test_every_file_that_is_read_is_checked(copy: Path) -> None:
    for name in recorded(copy):
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content + b" ")
        with pytest.raises(ModelError, match=f"{name}: damaged or changed: its SHA-256"):
            sieve.load(copy)
        (copy / name).write_bytes(content)
    assert sieve.load(copy).translate("bda fga").text


def test_a_file_that_was_lost_is_missed(copy: Path) -> None:
    (copy / "names.safetensors").unlink()
    with pytest.raises(ModelError, match=r"lacks names.safetensors, which its manifest.json lists"):
        sieve.load(copy)


@pytest.mark.parametrize("seed", range(60))
def test_random_damage_is_refused(copy: Path, seed: int) -> None:
    """Whatever becomes of the files, a sealed directory never translates in another way."""
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    told = outcome(copy)
    assert told == "works"
    damage(copy, seed)
    kept = {path.name: path.read_bytes() for path in copy.iterdir()}
    card = "MODEL_CARD.md"
    if MANIFEST_FILE in kept and {**kept, card: b""} != {**before, card: b""}:
        assert outcome(copy) != "works"


def test_damage_that_only_the_hash_finds(copy: Path) -> None:
    """A flipped bit in a matrix of integers is a valid model that says something else."""
    path = copy / "model.safetensors"
    raw, rng = path.read_bytes(), random.Random(1)
    header = 8 + int.from_bytes(raw[:8], "little")
    for _ in range(30):
        place = rng.randrange(header, len(raw))
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 0x40]) + raw[place + 1 :])
        with pytest.raises(ModelError, match=r"model.safetensors: damaged or changed"):
            sieve.load(copy)


@pytest.mark.parametrize(
    "content, message",
    [
        ("{", "cannot be read"),
        ('{"format_version": 2, "files": {}}', "got format_version 2, this version of Sieve"),
        ('{"format_version": 1}', "damaged: expected names of files and their SHA-256"),
        ('{"format_version": 1, "files": {"a": "b"}}', "damaged: expected names of files"),
        ('{"format_version": 1, "files": {"../a": "%s"}}' % ("0" * 64), "damaged: expected names"),
    ],
)
def test_a_damaged_manifest(copy: Path, content: str, message: str) -> None:
    (copy / MANIFEST_FILE).write_text(content)
    with pytest.raises(ModelError, match=f"manifest.json: {message}"):
        sieve.load(copy)
    assert sieve.load(copy, verify=False).translate("bda fga").text


def test_unverified_and_older_directories_are_read_as_they_are(copy: Path) -> None:
    config = read_json(copy / "config.json")
    write_json(copy / "config.json", {**config, "languages": ["aa", "bb"]})
    assert sieve.load(copy, verify=False).languages == ("aa", "bb")
    assert sieve.load(unsealed(copy)).languages == ("aa", "bb")


def test_no_verify_on_the_command_line(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (copy / "config.json").write_text((copy / "config.json").read_text() + " ")
    (copy.parent / "text").write_text("bda fga\n")
    command = ["translate", str(copy), "--input", str(copy.parent / "text")]
    assert main(command) == 2
    assert "config.json: damaged or changed" in capsys.readouterr().err
    assert main([*command, "--no-verify"]) == 0


def test_doctor_checks_every_file(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(copy, copy.parent / "aa-bb")
    monkeypatch.setenv("SIEVE_MODELS", str(copy.parent))
    (copy / "model.safetensors").write_bytes(b"")
    assert main(["doctor", str(copy.parent / "aa-bb"), "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert "model.safetensors: damaged or changed" in models["xx-yy"]["error"]
    assert "error" not in models["aa-bb"]


def test_what_is_made_of_a_model_is_sealed(copy: Path, tmp_path: Path) -> None:
    convert(copy, "float32", tmp_path / "floats")
    assert recorded(tmp_path / "floats")["config.json"]
    open_bundle(tmp_path / "floats").folder.check()
    assert (tmp_path / "floats" / "names.safetensors").is_file()


def test_damage_is_not_copied_and_sealed(copy: Path, tmp_path: Path) -> None:
    path = copy / "names.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\1")
    with pytest.raises(ModelError, match=r"names.safetensors: damaged or changed"):
        convert(copy, "float32", tmp_path / "floats")
    assert not (tmp_path / "floats").exists()


def lexicon() -> Lexicon:
    numbers = np.ones(400, np.int64)
    targets = np.full(400, 5, np.int32)
    return Lexicon(np.arange(401), targets, targets, numbers, numbers)


def test_a_file_is_replaced_in_a_sealed_directory(copy: Path) -> None:
    before = recorded(copy)
    with replacing(copy, LEXICON_FILE):
        assert recorded(copy) == before
        lexicon().save(copy)
    assert recorded(copy) == {**before, LEXICON_FILE: file_hash(copy / LEXICON_FILE)}
    with pytest.raises(RuntimeError), replacing(copy, LEXICON_FILE):
        raise RuntimeError  # the old file stays, and is readable
    assert recorded(copy) == before
    open_bundle(copy).folder.check()


def test_nothing_is_sealed_that_was_not(copy: Path) -> None:
    with replacing(unsealed(copy), LEXICON_FILE):
        lexicon().save(copy)
    assert not (copy / MANIFEST_FILE).exists()


@pytest.mark.parametrize("model", sorted(path.name for path in MODELS.iterdir() if path.is_dir()))
def test_built_in_models_are_sealed(model: str) -> None:
    assert len(recorded(MODELS / model)) == 5
    open_bundle(MODELS / model).folder.check()


CHANGED_UNDER_WAY = """
import sys
from pathlib import Path
import sieve

def texts():
    translations = [translator.translate(line, selection=s) for line in lines for s in selections]
    return [t.text for t in translations]

directory, how = Path(sys.argv[1]), sys.argv[2]
lines, selections = ["bda fga", "kla ste"], ["nvs:0.4", "lexicon:2", "none"]
translator = sieve.load(directory, threads=1)
before = texts()
for path in directory.iterdir():
    size = path.stat().st_size
    if how == "cut":
        with path.open("r+b") as file:
            file.truncate(0)
    else:
        with path.open("r+b") as file:
            file.write(b"\\xa5" * size)
assert texts() == before
print("the same")
"""


@pytest.mark.parametrize("how", ["cut", "overwritten"])
@pytest.mark.parametrize("int8", [True, False])
def test_files_that_change_under_a_running_process(
    toy_data: Any, tmp_path: Path, how: str, int8: bool
) -> None:
    """A mapped file would end the process (SIGBUS), or change what it writes."""
    directory = tmp_path / "xx-yy"
    write_model(directory, toy_data.corpus, int8=int8)
    lexicon().save(directory)
    assert printed(CHANGED_UNDER_WAY, str(directory), how) == "the same"
