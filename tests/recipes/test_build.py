"""The whole graph on a tiny generated pair: built, killed and resumed, the same in the end."""

import bz2
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from directories import write_model
from language import Language

import build as program
from pipeline.driver import Choice, carry_out, listed
from pipeline.graph import Build
from pipeline.layout import Layout
from pipeline.recipe import read_recipe
from pipeline.ship import weights
from pipeline.stage import Stamps
from pipeline.tools import Tools
from sieve.cli.main import main
from sieve.errors import InputError

TINY = """
languages = ["xx", "yy"]
tags = ["<2xx>", "<2yy>"]
validation = "valid"
trusted = ["toy", "phrases"]
groups = { everyday = ["phrases"], mix = ["toy"] }
repeats = { everyday = 2 }
first_part = { toy = 2 }
tests = { toytest = ["xx-yy"] }
licences = { toy = "made up", phrases = "made up" }
aligner_every = 1
pieces = { teacher = 800, student = 700 }
budgets = { own_pieces = 1 }

[teacher.model]
MODEL
nvs_head = "none"
[teacher.training]
TEACHING

[student.model]
MODEL
nvs_hidden = 8
[student.training]
TRAINING
alignment_weight = 0.1

[settle.training]
TRAINING

[head.training]
TRAINING

[ship]
size = 60
"""
MODEL = """preset = "tiny"
d_model = 16
d_ff = 32
heads = 2
encoder_layers = 1
decoder_layers = 1"""
TRAINING = """batch_tokens = 800
device_tokens = 800
max_updates = 6
checkpoint_every = 2
validate_every = 6
warmup = 2
rewarmup = 2
precision = "fp32"
compile = false
device = "cpu"
workers = 1
"""
TEACHING = TRAINING.replace("= 6", "= 70") + "learning_rate = 1e-2"  # it must end its sentences


def recipe_text() -> str:
    values = {"MODEL": MODEL, "TRAINING": TRAINING, "TEACHING": TEACHING}
    text = TINY
    for name, value in values.items():
        text = text.replace(name, value)
    return text


EVERYTHING = Choice()


class KilledError(Exception):
    """In place of a signal that ends the driver."""


@dataclass
class Verbs:
    """`sieve` in this process; the first calls that `kill` names end half done."""

    kill: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def __call__(self, *words: object) -> None:
        arguments = [str(word) for word in words]
        run = next((name for name in self.kill if name in " ".join(arguments)), "")
        self.calls.append(arguments[0])
        if run:
            self.kill.remove(run)
            if arguments[0] == "train":  # a checkpoint is written, then it ends
                assert main([*arguments, "--set", "training.max_updates=2"]) == 0
            raise KilledError(run)
        if code := main(arguments):
            raise AssertionError(f"sieve {arguments[0]}: {code}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("build")
    (root / "recipe.toml").write_text(recipe_text(), encoding="utf-8")
    pairs = Language(1).pairs(460, 1)
    for name, start, stop in (("train/toy", 0, 340), ("train/phrases", 340, 400),
                              ("test/valid", 400, 430), ("test/toytest", 430, 460)):  # fmt: skip
        sides = {"xx": "source_text", "yy": "target_text"}
        for language, side in sides.items():
            path = root / "data" / f"{name}.xx-yy.{language}"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = "".join(f"{getattr(pair, side)}\n" for pair in pairs[start:stop])
            if "train" in name:
                path.with_name(f"{path.name}.bz2").write_bytes(bz2.compress(text.encode()))
            else:
                path.write_text(text, encoding="utf-8")
    return root


def build(folder: Path, work: str, verbs: Verbs, choice: Choice = EVERYTHING) -> list[str]:
    """Builds one direction; the driver's lines."""
    places = Layout(folder / "data", folder / work)
    recipe = read_recipe(folder / "recipe.toml")
    stages = Build(recipe, folder, places, Tools(verbs, 1), ("xx-yy",)).stages()
    said: list[str] = []
    carry_out(stages, choice, Stamps(places.work / "stamps"), said.append)
    return said


def without_times(files: dict[str, bytes]) -> dict[str, Any]:
    """Card and configuration say how long training took, and the manifest has their hashes."""
    config = json.loads(files["config.json"])
    assert config["training"].pop("minutes") >= 0
    card = re.sub(rb"[\d.]+ minutes", b"", files["MODEL_CARD.md"])
    hashes = json.loads(files["manifest.json"])["files"]
    assert hashes.pop("config.json") == hashlib.sha256(files["config.json"]).hexdigest()
    return {**files, "config.json": config, "MODEL_CARD.md": card, "manifest.json": hashes}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_build_that_was_killed_ends_the_same(folder: Path) -> None:
    lines = build(folder, "whole", Verbs())
    assert len(lines) == 19 and all(": done in " in line for line in lines)
    killed = Verbs(["student.xx-yy", "convert"])
    for stage in ("student.xx-yy", "convert"):
        with pytest.raises(KilledError, match=stage):
            build(folder, "resumed", killed)
    resumed = build(folder, "resumed", killed)
    assert [line.partition(" ")[0] for line in resumed if "interrupted" in line] == ["int8.xx-yy:"]
    whole, again = (contents(folder / work / "xx-yy") for work in ("whole", "resumed"))
    assert whole["MODEL_CARD.md"].startswith(b"# xx to yy")
    assert without_times(whole) == without_times(again)
    for name in ("lexicon.xx-yy", "distilled.xx-yy", "own.xx-yy"):
        assert contents(folder / "whole" / name) == contents(folder / "resumed" / name), name
    scores = json.loads((folder / "resumed" / "scores.xx-yy.json").read_text())
    assert set(scores["tests"]) == {"toytest", "valid"}
    # all of it is done now
    verbs = Verbs()
    assert all(line.endswith("done before") for line in build(folder, "resumed", verbs))
    assert not verbs.calls
    change_and_rebuild(folder)


def change_and_rebuild(folder: Path) -> None:
    """A changed setting runs what depends on it; the old outputs are put aside."""
    recipe = folder / "recipe.toml"
    recipe.write_text(recipe.read_text().replace("size = 60", "size = 50"))
    lines = build(folder, "resumed", Verbs(), Choice(first="join"))
    reasons = {line.partition(":")[0]: line.partition("(")[2] for line in lines}
    assert reasons["join.xx-yy"] == reasons["lexicon.xx-yy"] == ""
    assert reasons["int8.xx-yy"] == "its settings changed)"
    assert "changed" in reasons["evaluate.xx-yy"] and "changed" in reasons["card.xx-yy"]
    assert (folder / "resumed" / "aside" / "int8.xx-yy" / "xx-yy" / "config.json").exists()


def test_the_list_names_every_stage(folder: Path) -> None:
    places = Layout(folder / "data", folder / "nowhere")
    stages = Build(
        read_recipe(folder / "recipe.toml"), folder, places, Tools(Verbs(), 1), ("xx-yy", "yy-xx")
    ).stages()
    lines = listed(stages, EVERYTHING, Stamps(places.work / "stamps"))
    names = [line.split()[0] for line in lines]
    assert names[:2] == ["collect", "tokenizer"]
    assert names[-2:] == ["card.xx-yy", "card.yy-xx"]
    assert len(set(names)) == len(names)
    assert all("to do: not run yet" in line for line in lines)
    assert not places.work.exists()


BAD = [
    (
        "validation =",
        "validatoin =",
        "unknown configuration key 'validatoin'; did you mean 'validation'?",
    ),
    (
        "own_pieces = 1",
        "own_peices = 1",
        "unknown configuration key 'budgets.own_peices'; did you mean 'own_pieces'?",
    ),
    (
        "alignment_weight",
        "alignement_weight",
        "[student] unknown configuration key 'training.alignement_weight'; did you mean "
        "'alignment_weight'?",
    ),
    (
        'trusted = ["toy", ',
        'trusted = ["toys", ',
        "trusted: got the corpus 'toys', which no group has",
    ),
    ('languages = ["xx", "yy"]', 'languages = ["xx"]', "languages: got 1 of them, expected two"),
    ("{ toy = 2 }", "{ toy = '2' }", "first_part.toy: got '2' (str), expected int"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_a_bad_recipe_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    text = recipe_text()
    assert old in text
    bad = tmp_path / "recipe.toml"
    bad.write_text(text.replace(old, new))
    assert program.main([str(bad), "--work", str(tmp_path / "work")]) == 2
    assert capsys.readouterr().err == f"error: {bad}: {message}\n"
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["en-fr"], "unknown language pair 'en-fr'; did you mean 'en-ru'?"),
        (["en-de", "studnt"], "unknown stage 'studnt'; did you mean 'student'?"),
        (["en-de", "--from", "tokeniser"], "unknown stage 'tokeniser'; did you mean 'tokenizer'?"),
        (["de-en", "settle.en-de"], "unknown stage 'settle.en-de'; did you mean 'settle.de-en'?"),
    ],
)
def test_unknown_names_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: Sequence[str], message: str
) -> None:
    options = ["--work", str(tmp_path / "work"), "--data", str(tmp_path)]
    assert program.main([*words, *options]) == 2
    assert capsys.readouterr().err == f"error: {message}\n"
    assert os.listdir(tmp_path) == []


READMES = [
    (path.parent.name, line.partition("#")[0].removesuffix(" & "))
    for path in program.RECIPES.glob("*/README.md")
    for line in re.findall(r"^python recipes/build\.py .*", path.read_text(), re.M)
    for line in line.split(" & ")
]


@pytest.mark.parametrize(("folder", "command"), READMES)
def test_what_the_readmes_tell_to_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str, command: str
) -> None:
    words = command.split()[2:]
    assert program.main([*words, "--list", "--work", str(tmp_path / "work")]) == 0
    stages = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert stages and all(name.partition(".")[2] in ("", *_both(folder)) for name in stages)


def _both(pair: str) -> tuple[str, str]:
    return pair, "-".join(reversed(pair.split("-")))


def test_stages_may_follow_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["de-en", "--only", "--work", str(tmp_path), "head", "--list"]
    assert program.main(words) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.split()[:3] == ["head.de-en", "to", "do:"]


def test_data_that_is_missing_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--work", str(tmp_path / "work"), "--data", str(tmp_path)]
    assert program.main(["en-de", "collect", *options]) == 2
    expected = tmp_path / "train" / "tatoeba.en-de.en.bz2"
    assert capsys.readouterr().err == (
        f"error: collect: {expected} not found; put it there, or give --data\n"
    )


def test_the_recipes_of_the_repository_are_sound() -> None:
    for path in program.RECIPES.glob("*/recipe.toml"):
        assert read_recipe(path).name == path.parent.name


def test_weights_travel_in_pieces(toy_data: Any, tmp_path: Path) -> None:
    write_model(tmp_path / "model", toy_data.corpus)
    (tmp_path / "metrics.jsonl").write_text("{}\n")
    weights.split(
        tmp_path / "model", tmp_path / "pieces", {"head.jsonl": tmp_path / "metrics.jsonl"}
    )
    names = sorted(path.name for path in (tmp_path / "pieces").glob("weights.*"))
    assert names == ["weights.000", "weights.head.jsonl", "weights.json"]
    weights.join(tmp_path / "pieces", tmp_path / "joined")
    weights.halve(tmp_path / "model", tmp_path / "half")
    assert contents(tmp_path / "joined") == contents(tmp_path / "half")
    (tmp_path / "pieces" / "weights.000").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"a piece is damaged.*copy it again"):
        weights.join(tmp_path / "pieces", tmp_path / "again")
    assert not (tmp_path / "again").exists()
