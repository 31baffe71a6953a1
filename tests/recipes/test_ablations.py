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
from sieve.selection.lexicon import Lexicon

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
    "curves",
    "missing_tokens",
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


def test_curves_put_the_lexicon_nearer_to_the_head_first(
    calls: list[str], folder: Path, toy_data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lexicon = Lexicon.open(folder / "lexicon")
    lexicon.pruned(1).save(folder / "pruned.safetensors")
    test = f"{toy_data.valid_src},{toy_data.valid_tgt}"
    lexicons = [f"all={folder}/lexicon", f"pruned={folder}/pruned.safetensors"]
    found = run(
        monkeypatch, "curves", folder / "model", "--lexicon", *lexicons, "--test", test,
        "--output", folder / "out.json",
    )  # fmt: skip
    margins: dict[str, list[float]] = {}
    for row in found["against"]:
        distance = row["nvs_recall"] - row["lexicon_recall"]
        margins.setdefault(row["lexicon"], []).append(distance)
    means = [float(np.mean(distances)) for distances in margins.values()]
    assert set(margins) == {"all", "pruned"}
    assert means == sorted(means)
    assert all(0 < row["lexicon_recall"] <= 1 for row in found["against"])


def test_missing_tokens_are_those_of_the_translation(
    calls: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run(
        monkeypatch, "missing_tokens", folder / "model", "--lexicon", folder / "lexicon",
        "--output", folder / "out.json",
    )  # fmt: skip
    rows = found["missing_tokens"]
    assert [row["from"] for row in rows] == 5 * ["paper"] + 10 * ["ours"]
    for row in rows:
        assert set(row["missing"]["lexicon:1000"]) <= set(row["missing"]["lexicon:200"])
        assert set(row["missing"]["lexicon:200"]) <= set(row["pieces"])


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
    arguments = [
        folder / "model", "--source", toy_data.valid_src, "--lines", 30, "--held-out", 8,
        "--test", f"toy={toy_data.valid_src},{toy_data.valid_tgt}", "--sentences", 5,
        "--weights", "100", "auto:1", "--seeds", 2, "--seeds-for", "100", "--epochs", 1,
        "--size", 12, "--work", folder / "work", "--output", folder / "out.json",
    ]  # fmt: skip
    found = run(monkeypatch, "positive_weight", *arguments)
    rows = found["positive_weights"]
    named = [(row["positive_weight"], row["seed"]) for row in rows]
    assert named == [("100", 1), ("auto:1", 1), ("100", 2)]
    assert found["all_tokens"]["equal_outputs"] == found["all_tokens"]["own_recall"] == 1.0
    for row in rows:
        # one threshold for all sentences: the mean size is the one asked for but for ties
        assert row["at_size"]["mean_size"] == pytest.approx(12, abs=0.5)
        # greedy search writes the same where nothing that it wrote is missing
        assert row["at_size"]["equal_outputs"] >= row["at_size"]["own_in_reach"]
    kept = {path.name: path.stat().st_mtime_ns for path in (folder / "work").glob("0*")}
    assert run(monkeypatch, "positive_weight", *arguments)["lines"] == found["lines"] > 0
    again = {path.name: path.stat().st_mtime_ns for path in (folder / "work").glob("0*")}
    assert again == kept, "translated once"


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
