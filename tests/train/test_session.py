"""Whole small runs: what must not change the result does not change it, bit for bit."""

import itertools
import json
import math
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sieve.config import with_overrides
from sieve.data.alignments import Alignments, write_pharaoh
from sieve.data.corpus import Corpus
from sieve.data.corpus_writer import write_corpus
from sieve.errors import ConfigError, InputError
from sieve.files import read_json, read_tensors
from sieve.model.checkpoint import load_model, save_model
from sieve.tokenize.tokenizer_training import TokenizerOptions, train_tokenizers
from sieve.train.loop import DivergedError
from sieve.train.metrics import Metrics
from sieve.train.session import train
from sieve.train.update.trainer import Trainer

Arrays = dict[str, npt.NDArray[Any]]


def run(path: Path, given: dict[str, Any], *overrides: str) -> Path:
    assert train(path, with_overrides(given, overrides)) == 0
    return path


def weights(run: Path) -> Arrays:
    return read_tensors(run / "model" / "model.safetensors")


def state(run: Path) -> Arrays:
    (newest,) = (run / "state").iterdir()
    return read_tensors(newest / "state.safetensors")


def lines(run: Path, kind: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line for line in found if line["kind"] == kind]


def assert_same(a: Arrays, b: Arrays) -> None:
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].tobytes() == b[name].tobytes(), name


def test_a_run_leaves_model_checkpoints_metrics(
    tmp_path: Path, toy_settings: dict[str, Any]
) -> None:
    path = run(tmp_path / "run", toy_settings, "training.bleu=true", "training.keep_best=1")
    model = load_model(path / "model")
    assert model.config.d_model == 16
    config = read_json(path / "model" / "config.json")
    assert config["languages"] == ["xx", "yy"]
    assert config["selection"] == {"threshold": 0.9}
    assert config["training"]["training"]["batch_tokens"] == 400
    train_lines = lines(path, "train")
    assert [line["update"] for line in train_lines] == [1, 2, 3, 4, 5, 6]
    assert train_lines[-1]["loss"] < train_lines[0]["loss"]
    assert train_lines[0]["loss"] == pytest.approx(math.log(400), rel=0.1)
    validations = lines(path, "validation")
    assert [line["update"] for line in validations] == [4, 6]
    assert validations[0].keys() >= {"perplexity", "vocab_size", "nvs_at_threshold", "bleu"}
    assert list(validations[0]["nvs_at_threshold"]) == ["0.5", "0.9", "0.99"]
    assert [entry.name for entry in (path / "checkpoints").iterdir()] == ["update-00000006"]
    assert (path / "best").resolve() == (path / "checkpoints" / "update-00000006").resolve()
    assert_same(weights(path), read_tensors(path / "best" / "model.safetensors"))


def test_the_head_leaves_the_translation_weights_alone(
    tmp_path: Path, toy_settings: dict[str, Any]
) -> None:
    without = weights(run(tmp_path / "none", toy_settings, "model.nvs_head=none"))
    assert not any(name.startswith("nvs.") for name in without)
    for head in ("tied", "full", "factored"):
        settings = (f"model.nvs_head={head}", "model.nvs_rank=8")
        found = weights(run(tmp_path / head, toy_settings, *settings))
        assert any(name.startswith("nvs.") for name in found)
        assert ("nvs.factors.tokens.weight" in found) == (head == "factored")
        assert_same({k: v for k, v in found.items() if not k.startswith("nvs.")}, without)


def test_an_undetached_head_does_move_them(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    detached = weights(run(tmp_path / "a", toy_settings))
    attached = weights(run(tmp_path / "b", toy_settings, "model.nvs_detach=false"))
    name = "tgt_embedding.weight"
    assert detached[name].tobytes() != attached[name].tobytes()


def test_the_weight_of_the_selection_loss(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    firsts = []
    for weight in (1, 4):
        path = run(tmp_path / str(weight), toy_settings, f"training.nvs_weight={weight}")
        firsts.append(lines(path, "train")[0])
    assert firsts[1]["nvs_loss"] == pytest.approx(4 * firsts[0]["nvs_loss"], rel=1e-5)
    assert firsts[1]["loss"] == firsts[0]["loss"]
    with pytest.raises(ConfigError, match=r"nvs_weight: got 0\.0, expected above 0"):
        run(tmp_path / "none", toy_settings, "training.nvs_weight=0")


def test_validation_checkpoints_and_logging_do_not_disturb(
    tmp_path: Path, toy_settings: dict[str, Any]
) -> None:
    often = run(tmp_path / "often", toy_settings, "training.validate_every=1", "training.bleu=true")
    rarely = run(
        tmp_path / "rarely",
        toy_settings,
        *("training.validate_every=100", "training.checkpoint_every=100", "training.workers=1"),
        "training.log_every=100",
    )
    assert_same(state(often), state(rarely))


def test_a_stopped_run_goes_on_bit_for_bit(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    whole = run(tmp_path / "whole", toy_settings)
    parts = run(tmp_path / "parts", toy_settings, "training.max_updates=2")
    assert train(parts, {"training": {"max_updates": 5}}) == 0  # the rest comes from the run
    run(parts, toy_settings)
    assert_same(state(whole), state(parts))
    assert_same(weights(whole), weights(parts))
    assert [x["loss"] for x in lines(whole, "train")] == [x["loss"] for x in lines(parts, "train")]
    assert [x["update"] for x in lines(parts, "train")] == [1, 2, 3, 4, 5, 6]


def test_a_run_stopped_in_its_last_validation_lost_nothing(
    tmp_path: Path, toy_settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(tmp_path / "whole", toy_settings)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("sieve.train.session.validate", stop)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "cut", toy_settings, "training.validate_every=1000")
    monkeypatch.setattr(Trainer, "step", stop)  # nothing is left to learn
    again = run(tmp_path / "cut", toy_settings, "training.validate_every=1000")
    assert_same(weights(whole), weights(again))


def test_a_finished_run_is_left_as_it_is(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    path = run(tmp_path / "run", toy_settings)
    before, metrics = state(path), (path / "metrics.jsonl").read_bytes()
    run(path, toy_settings)
    assert_same(before, state(path))
    assert (path / "metrics.jsonl").read_bytes() == metrics


def test_linear_schedule_reaches_zero(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    path = run(
        tmp_path / "run", toy_settings, "training.schedule=linear", "training.learning_rate=0.01"
    )
    rates = [line["learning_rate"] for line in lines(path, "train")]
    # warm-up 3 of 6 updates; step t has (t - 1) / 6 of the budget behind it
    assert rates == pytest.approx([0.01 / 3, 0.02 / 3, 0.01, 0.01, 0.02 / 3, 0.01 / 3])


@pytest.mark.parametrize(
    ("budget", "expected"),
    # stopped after 4 of 8 updates; the next rate is (1 - 4/8) / (1 - 3/8) = 0.8 of the peak
    [(8, [0.8, 0.6, 0.4, 0.2]), (12, [0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]), (6, [0.8, 0.4])],
)
def test_a_stopped_run_goes_on_from_its_rate_to_zero_at_another_budget(
    tmp_path: Path,
    toy_settings: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    budget: int,
    expected: list[float],
) -> None:
    given = with_overrides(toy_settings, ["training.schedule=linear", "training.max_updates=8"])
    write = Metrics.write

    def write_and_stop(self: Metrics, kind: str, update: int, values: dict[str, Any]) -> None:
        write(self, kind, update, values)
        if kind == "train" and update == 4:
            os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as patch:
        patch.setattr(Metrics, "write", write_and_stop)
        assert train(tmp_path / "run", given) == signal.SIGTERM
    path = run(tmp_path / "run", given, f"training.max_updates={budget}")
    rates = [line["learning_rate"] / 0.001 for line in lines(path, "train")]
    assert rates[4:] == pytest.approx(expected)


def test_minutes_as_budget(
    tmp_path: Path, toy_settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that moves on a tenth of a second whenever someone looks at it."""
    clock = itertools.count()
    monkeypatch.setattr("sieve.train.loop.time.monotonic", lambda: next(clock) / 10)
    path = run(
        tmp_path / "run",
        toy_settings,
        "training.max_updates=0",
        "training.max_minutes=0.02",
        "training.schedule=linear",
    )
    last = lines(path, "train")[-1]
    (newest,) = (path / "state").iterdir()
    assert 1.0 <= read_json(newest / "progress.json")["seconds"] < 2.0
    assert last["update"] > 1
    assert (path / "model").is_dir()
    assert lines(path, "validation")[-1]["update"] == last["update"]


@pytest.mark.parametrize("precision", ["bf16", "float16"])  # an old spelling and a new one
def test_half_precision(tmp_path: Path, toy_settings: dict[str, Any], precision: str) -> None:
    path = run(tmp_path / "run", toy_settings, f"training.precision={precision}")
    losses = [line["loss"] for line in lines(path, "train")]
    assert losses[-1] < losses[0]
    assert all(array.dtype == np.float32 for array in weights(path).values())
    whole = run(
        tmp_path / "parts",
        toy_settings,
        f"training.precision={precision}",
        "training.max_updates=3",
    )
    run(whole, toy_settings, f"training.precision={precision}")
    assert_same(state(path), state(whole))


def test_init_from_half_precision_weights(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    first = run(tmp_path / "first", toy_settings)
    model = load_model(first / "model")
    tokenizers = Corpus.open(toy_settings["data"]["train"][0]).tokenizers()
    save_model(tmp_path / "half", model, tokenizers, {"languages": ["xx", "yy"]}, "float16")
    again = {**toy_settings, "init_from": str(tmp_path / "half")}
    second = run(
        tmp_path / "second",
        again,
        "training.rewarmup=2",
        "training.warmup=100",
        "training.learning_rate=0.0001",
    )
    rates = [line["learning_rate"] for line in lines(second, "train")]
    assert rates == pytest.approx([0.00005, *[0.0001] * 5])
    first_loss = lines(second, "train")[0]["loss"]
    assert first_loss == pytest.approx(lines(first, "train")[-1]["loss"], rel=0.1)
    assert read_tensors(second / "model" / "model.safetensors")["output.bias"].dtype == np.float32


def test_guided_alignment_lowers_its_loss(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    corpus = Corpus.open(toy_settings["data"]["train"][0])
    lengths = np.minimum(corpus.src_lengths, corpus.tgt_lengths).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    position = (np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)).astype(np.int16)
    write_pharaoh(tmp_path / "links", Alignments(offsets, position, position))
    path = run(
        tmp_path / "run",
        toy_settings,
        f'data.alignments=["{tmp_path / "links"}"]',
        "training.alignment_weight=0.5",
        "training.max_updates=12",
        "training.learning_rate=0.01",
    )
    losses = [line["alignment_loss"] for line in lines(path, "train")]
    assert 0 < losses[-1] < losses[0]


def test_two_corpora_with_repeats(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    corpus = toy_settings["data"]["train"][0]
    path = run(
        tmp_path / "run",
        toy_settings,
        f'data.train=["{corpus}", "{corpus}"]',
        "data.repeats=[1, 2]",
        "training.max_updates=2",
    )
    assert weights(path)


def test_a_diverged_run_names_the_last_good_checkpoint(
    tmp_path: Path, toy_settings: dict[str, Any]
) -> None:
    with pytest.raises(DivergedError, match=r"not finite after update .*last good checkpoint"):
        run(
            tmp_path / "run", toy_settings, "training.learning_rate=1e30", "training.max_updates=50"
        )


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["training.max_updates=0"], "no budget: give --max-updates N or --max-minutes M"),
        (["data.train=[]"], "no training data: give --data DIR"),
        (['data.train=["nowhere"]'], "nowhere: no such corpus directory"),
        (["data.valid_src=missing.txt"], "missing.txt: cannot be read"),
        (["training.alignment_weight=1"], "but no alignments"),
        (["training.parts=head", "model.nvs_head=none"], "the model has no NVS head"),
        (["training.reach_weight=1", "model.nvs_head=none"], "the model has no NVS head"),
        (["training.reach_weight=1", "training.parts=head"], "which trains no decoder"),
        (["training.reach_weight=-1"], "reach_weight: got -1.0, expected 0 or more"),
        (["training.reach_threshold=1.0"], "got 1.0, expected between 0 and 1"),
        (["training.batch_token=3"], "did you mean 'batch_tokens'"),
        (["model.preset=huge"], "unknown preset 'huge'"),
        (["model.tgt_vocab_size=99"], "the tokenizer has 400 tokens"),
        (["modle.preset=base"], "did you mean 'model'"),
        (["training.device=cuda"], "torch finds no GPU"),
    ],
)
def test_what_the_user_can_mend(
    tmp_path: Path, toy_settings: dict[str, Any], overrides: list[str], message: str
) -> None:
    with pytest.raises((ConfigError, InputError)) as caught:
        run(tmp_path / "run", toy_settings, *overrides)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unequal_validation_files(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    short = tmp_path / "short"
    short.write_text("one line\n")
    with pytest.raises(InputError, match=r"has 40 lines and .*short has 1, expected as many"):
        run(tmp_path / "run", toy_settings, f"data.valid_tgt={short}")


def test_contradicting_options_on_resume(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    path = run(tmp_path / "run", toy_settings, "training.max_updates=2")
    with pytest.raises(ConfigError, match=r"started with training.learning_rate = 0.001, got 0.5"):
        run(path, toy_settings, "training.learning_rate=0.5")
    with pytest.raises(ConfigError, match=r"started with model.d_model = 16, got 32"):
        run(path, toy_settings, "model.d_model=32")
    assert train(path, {"training": {"max_updates": 3, "log_every": 7}}) == 0


def test_an_output_with_other_things_in_it(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty and holds no run"):
        run(tmp_path, toy_settings)


def test_data_of_another_tokenizer(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    sample = [f"{a}{b} {b}{a} {a}{c}{b}" for a in "bdfgk" for b in "aeiou" for c in "lmnr"]
    others = train_tokenizers(TokenizerOptions(vocab_size=390), sample, sample)
    write_corpus(tmp_path / "other", (sample, sample), others, ("xx", "yy"))
    corpus = toy_settings["data"]["train"][0]
    with pytest.raises(InputError, match="was prepared with another tokenizer than"):
        run(tmp_path / "a", toy_settings, f'data.train=["{corpus}", "{tmp_path / "other"}"]')
    first = run(tmp_path / "b", toy_settings, "training.max_updates=1")
    again = {**toy_settings, "init_from": str(first / "model")}
    with pytest.raises(InputError, match="has another tokenizer than the training data"):
        run(tmp_path / "c", again, f'data.train=["{tmp_path / "other"}"]')
