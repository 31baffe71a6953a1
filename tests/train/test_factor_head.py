"""Factors of a head: the best of their rank, and directories that carry them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from directories import write_model

import sieve
from sieve.bundle.directory import open_bundle
from sieve.bundle.weights import model_config
from sieve.cli.main import main
from sieve.engines.native.native_engine import NativeEngine
from sieve.explain.explanation import ExplainOptions, explain
from sieve.selection.selectors import NeuralSelection
from sieve.tokenize.tokenizer import source_ids
from sieve.train.factor_head import best_factors


def product(rows: Any, states: Any, rank: int) -> Any:
    """(T w) · (P x) of all rows and states."""
    tokens, positions = best_factors(rows, states, rank).values()
    return (rows @ tokens.T) @ (states @ positions.T).T


def random_head(seed: int) -> tuple[Any, Any]:
    """Rows and states that spread unevenly."""
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(12, 12)) * np.exp(-np.arange(12) / 3)
    rows, states = rng.normal(size=(50, 12)), rng.normal(size=(300, 12)) @ mix
    return rows.astype(np.float32), states.astype(np.float32)


def test_of_full_rank_they_change_nothing() -> None:
    rows, states = random_head(1)
    np.testing.assert_allclose(product(rows, states, 12), rows @ states.T, atol=1e-3)


@pytest.mark.parametrize("rank", [1, 4, 9])
def test_no_factors_of_the_rank_lose_less(rank: int) -> None:
    """What is lost are the smallest singular values, as Eckart and Young have it."""
    rows, states = random_head(2)
    exact = (rows @ states.T).astype(np.float64)
    lost = np.square(product(rows, states, rank) - exact).sum()
    expected = np.square(np.linalg.svd(exact, compute_uv=False)[rank:]).sum()
    assert lost == pytest.approx(expected, rel=1e-3)


def test_states_that_do_not_spread_at_all() -> None:
    """Two dimensions of nothing: no division by zero."""
    rows, states = random_head(3)
    states[:, 5:7] = 0
    found = product(rows, states, 11)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, rows @ states.T, atol=1e-2)


@pytest.fixture
def text(toy_data: Any, tmp_path: Path) -> Path:
    lines = Path(toy_data.valid_src).read_text().splitlines()[:60]
    path = tmp_path / "text"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("head", ["tied", "full"])
def test_a_directory_with_a_factored_head(
    head: str, int8: bool, toy_data: Any, text: Path, tmp_path: Path, capsys: Any
) -> None:
    model, output = tmp_path / "model", tmp_path / "factored"
    write_model(model, toy_data.corpus, int8=int8, nvs_head=head)
    calibrate = ["calibrate", str(model), str(text), "--size", "60", "--least", "0"]
    assert main([*calibrate, "--threads", "1"]) == 0
    before = (model / "model.safetensors").read_bytes()
    argv = ["convert", str(model), "--head-rank", "8", "--text", str(text)]
    capsys.readouterr()
    assert main([*argv, "--second-look", "2", "-o", str(output)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (model / "model.safetensors").read_bytes() == before
    bundle = open_bundle(output)
    config = model_config(bundle)
    assert (config.nvs_head, config.nvs_rank, config.nvs_slack) == ("factored", 8, told["slack"])
    assert config.nvs_words == ("output" if head == "tied" else "own")
    ids = source_ids(bundle.tokenizers().source, text.read_text().splitlines())
    sizes = []
    for directory in (model, output):
        engine = NativeEngine.open(open_bundle(directory), threads=1)
        sets = NeuralSelection(0.9).plan().select(engine.encode(ids))
        sizes.append(np.mean([len(words) for words in sets]))
    assert sizes[1] == pytest.approx(sizes[0], rel=0.1)
    translator = sieve.load(output, threads=1)
    assert translator.translate("bda kla pte").confidence is not None
    explained = explain(translator, "bda kla pte", ExplainOptions(("nvs",)))
    assert explained.words and explained.threshold == 0.9
    # a factored head can be factored again, and be converted as any other
    again = ["convert", str(output), "--head-rank", "3", "--text", str(text), "--second-look", "0"]
    assert main([*again, "-o", str(tmp_path / "again")]) == 0
    assert model_config(open_bundle(tmp_path / "again")).nvs_slack is None
    form = "--float32" if int8 else "--int8"
    assert main(["convert", str(output), form, "-o", str(tmp_path / "other")]) == 0
    sieve.load(tmp_path / "other", threads=1).translate("bda")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--head-rank", "8"], "--head-rank: needs --text"),
        (["--int8", "--text", "TEXT"], "--text: is for --head-rank"),
        (["--head-rank", "0", "--text", "TEXT"], "rank: got 0, expected 1 or more"),
        (["--head-rank", "8", "--text", "TEXT", "--second-look", "0.5"], "second look: got 0.5"),
    ],
)
def test_what_goes_wrong_is_one_line(
    options: list[str], message: str, toy_data: Any, text: Path, tmp_path: Path, capsys: Any
) -> None:
    write_model(tmp_path / "model", toy_data.corpus)
    before = sorted(tmp_path.rglob("*"))
    given = [str(text) if option == "TEXT" else option for option in options]
    assert main(["convert", str(tmp_path / "model"), *given]) == 2
    shown = capsys.readouterr().err
    assert message in shown and shown.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_model_without_a_head(toy_data: Any, text: Path, tmp_path: Path, capsys: Any) -> None:
    write_model(tmp_path / "model", toy_data.corpus, nvs_head="none")
    assert main(["convert", str(tmp_path / "model"), "--head-rank", "8", "--text", str(text)]) == 2
    assert "has no selection head to factor; sieve attach makes one" in capsys.readouterr().err
