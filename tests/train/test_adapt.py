"""Adaptation: both parts, or the head alone with everything else untouched."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from directories import unsealed

from sieve.bundle.directory import LEXICON_FILE, NAMES_FILE, Bundle, open_bundle
from sieve.data.corpus import Corpus
from sieve.engines.native.native_engine import NativeEngine
from sieve.errors import ConfigError, InputError
from sieve.files import read_json, write_json, write_tensors
from sieve.repair.names import Names
from sieve.repair.word_set import WordSet
from sieve.tokenize.vocabulary import OWN, IntArray
from sieve.train.adapt import AdaptOptions, adapt
from sieve.train.attach.attach import attach
from sieve.train.attach.attach_options import AttachOptions
from sieve.train.attach.head import HeadOptions
from sieve.train.attach.source_text import CorpusText
from sieve.train.calibrate import CalibrationOptions, calibrate, mean_size, store
from sieve.train.session import train


@pytest.fixture
def make_model(tmp_path: Path, toy_settings: dict[str, Any]) -> Callable[[str], Path]:
    def make(head: str) -> Path:
        toy_settings["model"]["nvs_head"] = head
        assert train(tmp_path / f"run-{head}", toy_settings) == 0
        return unsealed(tmp_path / f"run-{head}" / "model")

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
    assert config["selection"]["threshold"] == 0.9  # calibrated, as sieve attach leaves it
    assert (tmp_path / "out" / "reach.json").is_file()
    with pytest.raises(ConfigError, match=r"no NVS head.*--new-head"):
        adapt(model, tmp_path / "other", AdaptOptions(corpora=corpora, head_only=True))


def test_a_new_head_alone_is_what_attach_makes(
    tmp_path: Path, toy_settings: dict[str, Any], make_model: Callable[[str], Path]
) -> None:
    """The same options, text and lines kept apart as `attach` with the corpora as text."""
    model, corpora = make_model("none"), tuple(toy_settings["data"]["train"])
    options = AdaptOptions(corpora=corpora, epochs=2, head_only=True, new_head="tied")
    adapt(model, tmp_path / "adapted", options)
    number, V = 300 // 10, open_bundle(model).config["model"]["tgt_vocab_size"]
    told = AttachOptions(
        development=number,
        training=HeadOptions(epochs=2, size=V // 4),
        calibration=CalibrationOptions(size=V // 4),
    )
    attach(model, tmp_path / "attached", CorpusText(tuple(map(Path, corpora))), told)
    for name, key in (("config.json", "attached"), ("reach.json", "sentences")):
        adapted, attached = (
            read_json(tmp_path / f"{kind}ed" / name) for kind in ("adapt", "attach")
        )
        assert adapted[key] == attached[key]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"valid": ("a", "b")}, "--valid: not with --head-only --new-head"),
        ({"overrides": ("training.seed=3",), "batch_tokens": 9}, "--set, --batch-tokens: not with"),
    ],
)
def test_what_attach_does_not_take(
    tmp_path: Path, make_model: Callable[[str], Path], options: dict[str, Any], named: str
) -> None:
    told = AdaptOptions(corpora=("x",), head_only=True, new_head="tied", **options)
    with pytest.raises(ConfigError, match=named):
        adapt(make_model("none"), tmp_path / "out", told)


def source_ids(corpus: Path, count: int) -> list[IntArray]:
    sources, _ = Corpus.open(corpus).pairs(range(count))
    return [OWN.source_ids(sources[row]) for row in range(count)]


def calibrated(model: Path, corpus: Path, safe: bool) -> Bundle:
    """Calibrates a model in place, with a minimum of 30."""
    engine = NativeEngine.open(open_bundle(model))
    options = CalibrationOptions(0.8, 90, least=30, safe=safe)
    store(model, model, calibrate(engine, source_ids(corpus, 40), options))
    return open_bundle(model)


@pytest.mark.parametrize("safe", [True, False])
def test_a_calibrated_model_is_calibrated_again(
    tmp_path: Path,
    toy_settings: dict[str, Any],
    make_model: Callable[[str], Path],
    caplog: pytest.LogCaptureFixture,
    safe: bool,
) -> None:
    model, data = make_model("tied"), toy_settings["data"]
    before = calibrated(model, Path(data["train"][0]), safe)
    valid = (data["valid_src"], data["valid_tgt"]) if safe else ()
    options = AdaptOptions(corpora=tuple(data["train"]), valid=valid, learning_rate=0.01, epochs=4)
    assert adapt(model, tmp_path / "out", options) == 0
    after = open_bundle(tmp_path / "out")
    old, new = before.config["selection"], after.config["selection"]
    assert [new[key] for key in ("threshold", "least", "safe")] == [0.8, 30, safe]
    assert new["confidence"] != old["confidence"]
    assert new["calibration"]["sentences"] == (40 if safe else 300)
    assert ("no validation text (--valid): calibrating on training" in caplog.text) == (not safe)
    ids = source_ids(Path(data["train"][0]), 300)
    sizes = [mean_size(NativeEngine.open(model), ids, 0.8) for model in (before, after)]
    assert 2 <= sizes[1] <= 1.2 * sizes[0]  # fewer where they hold all that the model writes


def test_the_settings_of_the_selection_are_kept_uncalibrated(
    tmp_path: Path, toy_settings: dict[str, Any], make_model: Callable[[str], Path]
) -> None:
    model, corpora = make_model("tied"), tuple(toy_settings["data"]["train"])
    selection = {"threshold": 0.7, "least": 20, "safe": True}
    write_json(model / "config.json", {**read_json(model / "config.json"), "selection": selection})
    lexicon = np.arange(4, dtype=np.int32)
    write_tensors(model / LEXICON_FILE, {"any": lexicon})
    (model / "MODEL_CARD.md").write_text("BLEU 40")
    options = AdaptOptions(corpora=corpora, epochs=1, overrides=("training.positive_weight=7",))
    assert adapt(model, tmp_path / "out", options) == 0
    config = read_json(tmp_path / "out" / "config.json")
    assert config["selection"] == selection
    assert config["training"]["training"]["positive_weight"] == 7.0
    assert (tmp_path / "out" / LEXICON_FILE).is_file()
    assert not (tmp_path / "out" / "MODEL_CARD.md").exists()


@pytest.mark.parametrize("known", [True, False])
def test_the_weight_of_positives_is_that_of_the_model(
    tmp_path: Path,
    toy_settings: dict[str, Any],
    make_model: Callable[[str], Path],
    caplog: pytest.LogCaptureFixture,
    known: bool,
) -> None:
    model, corpora = make_model("full"), tuple(toy_settings["data"]["train"])
    if not known:
        config = read_json(model / "config.json")
        del config["training"]
        write_json(model / "config.json", config)
    assert adapt(model, tmp_path / "out", AdaptOptions(corpora=corpora, epochs=1)) == 0
    training = read_json(tmp_path / "out" / "config.json")["training"]["training"]
    assert training["positive_weight"] == (100.0 if known else 100_000.0)
    assert ("does not say which λ_p its head was trained with" in caplog.text) == (not known)


def test_unequal_text(
    tmp_path: Path, toy_settings: dict[str, Any], make_model: Callable[[str], Path]
) -> None:
    (tmp_path / "one").write_text("a\n")
    (tmp_path / "two").write_text("a\nb\n")
    with pytest.raises(InputError, match=r"one has 1 lines and .*two has 2"):
        options = AdaptOptions(pair=(tmp_path / "one", tmp_path / "two"))
        adapt(make_model("none"), tmp_path / "out", options)


def test_compressed_text(
    tmp_path: Path, toy_settings: dict[str, Any], make_model: Callable[[str], Path]
) -> None:
    model, data = make_model("none"), toy_settings["data"]
    pair = (tmp_path / "valid.xx.gz", tmp_path / "valid.yy.gz")
    for path, name in zip(pair, ("valid_src", "valid_tgt"), strict=True):
        path.write_bytes(gzip.compress(Path(data[name]).read_bytes()))
    options = AdaptOptions(pair=pair, valid=(str(pair[0]), str(pair[1])), epochs=1)
    assert adapt(model, tmp_path / "out", options) == 0
    assert read_json(tmp_path / "out" / "config.json")["training"]["update"] == 1
