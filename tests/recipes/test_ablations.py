"""The ablations on tiny data: every step runs, results have their form, nothing is done twice."""

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from directories import write_model
from safetensors.numpy import load_file, save_file
from toy_lexicon import random_lexicon

from sieve.bundle.directory import open_bundle
from sieve.cli.main import main

FOLDER = Path(__file__).parents[2] / "recipes" / "ablations"
NAMES = (
    "verbs",
    "measured",
    "adaptation",
    "positive_weight",
    "model_sizes",
    "fresh_head",
    "seeds",
    "aligners",
)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Verbs run in this process, and are written down."""
    monkeypatch.syspath_prepend(str(FOLDER))
    found: list[str] = []

    def here(*arguments: object) -> None:
        words = [str(argument) for argument in arguments]
        found.append(" ".join(words))
        assert main(words) == 0

    monkeypatch.setattr(importlib.import_module("verbs"), "sieve", here)
    yield found
    for name in NAMES:
        sys.modules.pop(name, None)


@pytest.fixture
def folder(toy_data: Any, tmp_path: Path) -> Path:
    config, _ = write_model(tmp_path / "model", toy_data.corpus, nvs_hidden=16)
    (tmp_path / "lexicon").mkdir()
    random_lexicon(config.src_vocab_size).save(tmp_path / "lexicon")
    tokenizer = [path for path in (tmp_path / "model").iterdir() if "tokenizer" in path.name]
    for path in tokenizer:
        (tmp_path / "lexicon" / path.name).write_bytes(path.read_bytes())
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, script: str, *arguments: object) -> Any:
    """Calls a script and gives what it wrote."""
    words = [str(argument) for argument in arguments]
    monkeypatch.setattr(sys, "argv", [f"{script}.py", *words])
    importlib.import_module(script).main()
    return json.loads(Path(words[-1]).read_text(encoding="utf-8"))


def test_adaptation(
    calls: list[str], folder: Path, toy_data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "mine.tsv").write_text("bda fga\tFGA BDA\tfga\tFGA\n" * 3)
    arguments = [
        folder / "model", "--lexicon", folder / "lexicon", "--pair", toy_data.valid_src,
        toy_data.valid_tgt, "--number", 12, "--epochs", 1, "--positive-weight", 100,
        "--idioms", folder / "mine.tsv", "--test", f"{toy_data.valid_src},{toy_data.valid_tgt}",
        "--sentences", 5, "--work", folder / "work", "--output", folder / "out.json",
    ]  # fmt: skip
    found = run(monkeypatch, "adaptation", *arguments)
    assert [call.split()[0] for call in calls] == ["adapt", "lexicon"]
    drawn = (folder / "work" / "in-domain.source").read_text().splitlines()
    assert len(drawn) == 12 and set(drawn) <= set(toy_data.valid_src.read_text().splitlines())
    table = found["adaptation"]
    # two states, eight scopes (four of the idioms, three of them twice, since one idiom comes
    # three times, and one of the test set), two k, lexicon and head
    assert len(table) == 2 * 8 * 2 * 2
    assert {row["state"] for row in table} == {"before", "after"}
    assert len(found["adaptation_curves"]) == 2 * 8 * 2
    before, after = (
        [row["mean_size"] for row in table if (row["state"], "nvs" in row["selection"]) == kind]
        for kind in (("before", True), ("after", True))
    )
    assert before == after  # the head is compared at the sizes the lexicon had before
    assert run(monkeypatch, "adaptation", *arguments) == found
    assert len(calls) == 2, "the second time everything was there"


def test_positive_weight(
    calls: list[str], folder: Path, toy_data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = str(toy_data.valid_src).removesuffix(".xx")
    arguments = [
        folder / "model", "--data", toy_data.corpus, "--test", prefix, "--weights", "1000", "1",
        "--updates", 2, "--batch-tokens", 200, "--sentences", 5, "--beam-size", 1,
        "--work", folder / "work", "--output", folder / "out.json",
    ]  # fmt: skip
    rows = run(monkeypatch, "positive_weight", *arguments)["positive_weights"]
    assert [call.split()[0] for call in calls] == ["adapt", "evaluate"] * 2
    assert [row["positive_weight"] for row in rows] == ["1000", "1"]
    assert all(f"training.positive_weight={row['positive_weight']}" in call
               for row, call in zip(rows, calls[::2], strict=True))  # fmt: skip
    # one translation model serves all weights
    assert rows[0]["bleu_unrestricted"] == rows[1]["bleu_unrestricted"]
    assert rows[0]["recall_at_1000"] is None  # there are no 1000 words
    (folder / "work" / "model.1.json").unlink()
    assert run(monkeypatch, "positive_weight", *arguments)["positive_weights"] == rows
    assert [call.split()[0] for call in calls[4:]] == ["evaluate"], "only what was missing"


def test_model_sizes(calls: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [folder / "model", "--lexicon", folder / "lexicon", "--output", folder / "o.json"]
    found = {row["what"]: row["numbers"] for row in
             run(monkeypatch, "model_sizes", *arguments)["model_sizes"]}  # fmt: skip
    # d_model 20, hidden 16, V words: two layers with biases, and a bias of the words
    from sieve.bundle.directory import open_bundle

    V = open_bundle(folder / "model").config["model"]["tgt_vocab_size"]
    assert found["NVS, full head of the same size (V · D + V)"] == 21 * V
    assert found["align k=200 (V · k)"] == 200 * V
    assert found["align k=200, entries stored"] == 6 * V
    own = found["NVS, tied head of model"]
    assert V < own < 21 * V


def test_seeds(
    calls: list[str], folder: Path, toy_data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = open_bundle(folder / "model")
    heads = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        heads.append(folder / f"{seed}.safetensors")
        head = {k: v for k, v in bundle.tensors().items() if k.startswith("nvs.")}
        head["nvs.bias"] = rng.normal(size=head["nvs.bias"].shape).astype(np.float16)
        save_file(head, heads[-1])
    importlib.import_module("fresh_head").fresh(folder / "model", 3, folder / "fresh")
    drawn, given = open_bundle(folder / "fresh").tensors(), bundle.tensors()
    moved = {name for name in given if not np.array_equal(drawn[name], given[name])}
    assert "nvs.hidden.weight" in moved and all(name.startswith("nvs.") for name in moved)
    assert not drawn["nvs.out.weight"].any() and "nvs.bias" not in moved
    found = run(
        monkeypatch, "seeds", folder / "model", *heads, "--lexicon", folder / "lexicon",
        "--test", f"{toy_data.valid_src},{toy_data.valid_tgt}", "--sentences", 5,
        "--work", folder / "work", "--output", folder / "out.json",
    )  # fmt: skip
    assert [row["lexicon"] for row in found["seeds"]] == [
        "lexicon:100",
        "lexicon:200",
        "lexicon:1000",
    ]
    other = open_bundle(folder / "work" / "model.2").tensors()
    np.testing.assert_array_equal(other["nvs.bias"], load_file(heads[1])["nvs.bias"])
    np.testing.assert_array_equal(other["output.bias"], bundle.tensors()["output.bias"])
    for row in found["seeds"]:
        one, two = row["nvs_recalls"]
        assert row["nvs_mean"] == pytest.approx((one + two) / 2)
        assert row["nvs_deviation"] == pytest.approx(abs(one - two) / 2**0.5)


def test_aligners(
    calls: list[str], folder: Path, toy_data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [
        toy_data.corpus, folder / "model", "--test", f"{toy_data.valid_src},{toy_data.valid_tgt}",
        "--aligners", "fast_align", "attention", "--work", folder / "work",
    ]  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["aligners.py", *map(str, arguments)])
    for expected in (["lexicon", "lexicon", "lexicon", "evaluate"], ["evaluate"]):
        importlib.import_module("aligners").main()
        assert [call.split()[0] for call in calls] == expected, "built once"
        calls.clear()
    table = json.loads((folder / "work" / "aligners.json").read_text())
    assert {"fast_align", "attention"} <= set(re.findall(r"\w+", json.dumps(table)))
