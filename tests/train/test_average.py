"""Averages against numbers worked out by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sieve.bundle.directory import open_bundle, write_bundle
from sieve.data.corpus import Corpus
from sieve.errors import InputError, ModelError
from sieve.tokenize.tokenizer_training import TokenizerOptions, train_tokenizers
from sieve.train.average import average
from sieve.train.session import train


def test_mean_by_hand(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    tokenizers = Corpus.open(toy_settings["data"]["train"][0]).tokenizers()
    for name, values in {"a": [1.0, 2.0], "b": [2.0, 6.0], "c": [6.0, 1.0]}.items():
        tensors = {"w": np.array(values, np.float32)}
        write_bundle(tmp_path / name, {"model": {}, "languages": ["x", "y"]}, tensors, tokenizers)
    average([tmp_path / name for name in "abc"], tmp_path / "mean")
    found = open_bundle(tmp_path / "mean")
    assert found.tensors()["w"].tolist() == [3.0, 3.0]
    assert found.tensors()["w"].dtype == np.float32
    assert found.config["languages"] == ["x", "y"]
    assert found.config["training"]["averaged"] == ["a", "b", "c"]


def test_the_best_of_a_run(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    toy_settings["training"] |= {"validate_every": 1, "keep_best": 3}
    assert train(tmp_path / "run", toy_settings) == 0
    checkpoints = tmp_path / "run" / "checkpoints"
    # perplexity falls with every update: the last three were kept, the last is the best
    assert [p.name for p in average([tmp_path / "run"], tmp_path / "two", best=2)] == [
        "update-00000006",
        "update-00000005",
    ]
    tensors = [
        open_bundle(checkpoints / f"update-0000000{n}").tensors()["output.bias"] for n in (5, 6)
    ]
    expected = ((tensors[0].astype(np.float64) + tensors[1]) / 2).astype(np.float32)
    assert np.array_equal(open_bundle(tmp_path / "two").tensors()["output.bias"], expected)
    assert len(average([tmp_path / "run"], tmp_path / "all")) == 3


def test_what_cannot_be_averaged(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    tokenizers = Corpus.open(toy_settings["data"]["train"][0]).tokenizers()
    sample = [f"{a}{b} {b}{a} {a}{c}{b}" for a in "bdfgk" for b in "aeiou" for c in "lmnr"]
    others = train_tokenizers(TokenizerOptions(vocab_size=390), sample, sample)

    def model(name: str, tensors: dict[str, Any], vocabulary: Any = tokenizers) -> Path:
        write_bundle(tmp_path / name, {"model": {}}, tensors, vocabulary)
        return tmp_path / name

    one = model("one", {"w": np.zeros(2, np.float32)})
    wide = model("wide", {"w": np.zeros(3, np.float32)})
    named = model("named", {"v": np.zeros(2, np.float32)})
    foreign = model("foreign", {"w": np.zeros(2, np.float32)}, others)
    with pytest.raises(
        ModelError, match=r"wide: tensor w has shape \(3,\), in .*one it has \(2,\)"
    ):
        average([one, wide], tmp_path / "out")
    with pytest.raises(ModelError, match="differ in tensor v"):
        average([one, named], tmp_path / "out")
    with pytest.raises(ModelError, match="has another vocabulary than"):
        average([one, foreign], tmp_path / "out")
    with pytest.raises(InputError, match="no such run or model directory"):
        average([tmp_path / "nowhere"], tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no checkpoints to average"):
        average([tmp_path / "empty"], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="exists and is no model directory"):
        average([one], tmp_path / "precious")
    assert (tmp_path / "precious" / "thesis.tex").exists()
