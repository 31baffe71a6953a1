"""Adaptation: both parts, or the head alone with everything else untouched."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sieve.bundle.directory import open_bundle
from sieve.errors import ConfigError, InputError
from sieve.files import read_json
from sieve.repair.names import NAMES_FILE, Names
from sieve.repair.word_set import WordSet
from sieve.train.adapt import AdaptOptions, adapt
from sieve.train.session import train


@pytest.fixture
def make_model(tmp_path: Path, toy_settings: dict[str, Any]) -> Callable[[str], Path]:
    def make(head: str) -> Path:
        toy_settings["model"]["nvs_head"] = head
        assert train(tmp_path / f"run-{head}", toy_settings) == 0
        return tmp_path / f"run-{head}" / "model"

    return make


def changed(before: Path, after: Path) -> set[str]:
    old, new = open_bundle(before).tensors(), open_bundle(after).tensors()
    return {name for name in new if name not in old or not np.array_equal(old[name], new[name])}


def test_both_parts_on_plain_text(
    tmp_path: Path, toy_settings: dict[str, Any], make_model: Callable[[str], Path]
) -> None:
    model, data = make_model("tied"), toy_settings["data"]
    Names(translated_source=WordSet.of(["house"])).save(model)
    pair = (Path(data["valid_src"]), Path(data["valid_tgt"]))
    options = AdaptOptions(pair=pair, valid=(str(pair[0]), str(pair[1])), epochs=3)
    assert adapt(model, tmp_path / "out", options) == 0
    moved = changed(model, tmp_path / "out")
    assert "tgt_embedding.weight" in moved
    assert "nvs.out.weight" in moved
    training = read_json(tmp_path / "out" / "config.json")["training"]
    # 40 sentences of some 11 tokens are one update of 2048 tokens an epoch
    assert training["update"] == 3
    assert training["training"]["learning_rate"] == 1e-4
    assert not (tmp_path / "out.run").exists()
    assert (tmp_path / "out" / NAMES_FILE).read_bytes() == (model / NAMES_FILE).read_bytes()


def test_head_only_leaves_the_rest_bit_for_bit(
    tmp_path: Path, toy_settings: dict[str, Any], make_model: Callable[[str], Path]
) -> None:
    model, data = make_model("tied"), toy_settings["data"]
    valid = (data["valid_src"], data["valid_tgt"])
    options = AdaptOptions(corpora=tuple(data["train"]), valid=valid, epochs=2, head_only=True)
    assert adapt(model, tmp_path / "out", options) == 0
    moved = changed(model, tmp_path / "out")
    assert moved and all(name.startswith("nvs.") for name in moved)


@pytest.mark.parametrize("head", ["tied", "full"])
def test_a_new_head_for_a_model_without_one(
    tmp_path: Path, toy_settings: dict[str, Any], make_model: Callable[[str], Path], head: str
) -> None:
    model = make_model("none")
    corpora = tuple(toy_settings["data"]["train"])
    options = AdaptOptions(corpora=corpora, epochs=1, head_only=True, new_head=head)
    assert adapt(model, tmp_path / "out", options) == 0
    names = open_bundle(tmp_path / "out").tensors().keys()
    assert changed(model, tmp_path / "out") == {n for n in names if n.startswith("nvs.")}
    config = read_json(tmp_path / "out" / "config.json")
    assert config["model"]["nvs_head"] == head
    with pytest.raises(ConfigError, match=r"no NVS head.*--new-head"):
        adapt(model, tmp_path / "other", AdaptOptions(corpora=corpora, head_only=True))


def test_unequal_text(
    tmp_path: Path, toy_settings: dict[str, Any], make_model: Callable[[str], Path]
) -> None:
    (tmp_path / "one").write_text("a\n")
    (tmp_path / "two").write_text("a\nb\n")
    with pytest.raises(InputError, match=r"one has 1 lines and .*two has 2"):
        options = AdaptOptions(pair=(tmp_path / "one", tmp_path / "two"))
        adapt(make_model("none"), tmp_path / "out", options)
