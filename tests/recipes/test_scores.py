"""Scores of a finished model: the form that the card reads, numbers that belong together."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from directories import write_model
from toy_lexicon import random_lexicon

from pipeline.recipe import Recipe
from pipeline.ship import card
from pipeline.ship.evaluate import Evaluation
from sieve.errors import InputError

PAIR = Recipe(("xx", "yy"), ("<2xx>", "<2yy>"), groups={}, validation="v", tests={})


@pytest.fixture
def folder(toy_data: Any, tmp_path: Path) -> Path:
    config, _ = write_model(tmp_path / "model", toy_data.corpus, int8=True)
    (tmp_path / "lexicon").mkdir()
    random_lexicon(config.src_vocab_size, entries=40).save(tmp_path / "lexicon")
    (tmp_path / "test").mkdir()
    for name in ("toy.xx-yy", "back.yy-xx", "newstest2019.yy-xx", "itds_idiom_test.xx-yy"):
        for path in (toy_data.valid_src, toy_data.valid_tgt):
            (tmp_path / "test" / f"{name}{path.suffix}").write_bytes(path.read_bytes())
    return tmp_path


def scores(folder: Path, pair: Recipe = PAIR, **options: Any) -> Any:
    found = Evaluation(pair, folder / "model", folder / "test", limit=6, **options)
    found.write(folder / "scores.json", "the command")
    return json.loads((folder / "scores.json").read_text())


def test_form_and_card(folder: Path) -> None:
    found = scores(folder, lexicon=folder / "lexicon")
    # a set written the other way only, and one that is tokenised, are left out
    assert list(found["tests"]) == ["back", "toy"]
    assert found["direction"] == "xx-yy" and found["engine"].startswith("native")
    toy = found["tests"]["toy"]
    assert toy["sentences"] == 6
    assert set(toy["none"]) == {"BLEU", "chrF", "signatures"}
    nvs, lexicon = toy["nvs"], toy["lexicon"]
    assert nvs["threshold"] == 0.4 and lexicon["k"] >= 1
    assert set(nvs["recall"]) == set(lexicon["recall"]) == {"reference", "own"}
    assert set(nvs["recall"]["own"]) == {"at_threshold", "500", "1000", "2000"}
    assert nvs["recall"]["own"]["2000"] == 100.0  # there are fewer words than that
    assert lexicon["mean_size"] <= nvs["mean_size"]
    assert card.SETTLED not in " ".join(card.scores(found, None, settled=False))
    lines = card.scores(found, None, settled=True)
    assert card.SETTLED in " ".join(lines)
    row = next(line for line in lines if line.startswith("| toy |"))
    assert row.count("|") == 10 and str(nvs["unchanged"]) in row
    assert toy["none"]["signatures"][0] in lines[-1]
    assert f"`{nvs['selection']}`" in lines[1]
    ended: list[dict[str, Any]] = [
        {"kind": "train", "update": 7, "tokens": 5000, "seconds": 90.0},
        {"kind": "validation"},
    ]
    steps = card.training({"student": ended, "settle": ended})
    assert "- Settling: 7 updates, 5,000 target tokens, 1.5 minutes on one GPU." in steps
    assert not any("The head:" in step for step in steps)


def test_without_a_lexicon(folder: Path) -> None:
    found = scores(folder, only=("toy",))
    assert set(found["tests"]) == {"toy"}
    assert set(found["tests"]["toy"]) == {"sentences", "none", "nvs"}


def test_a_model_of_other_languages(folder: Path) -> None:
    with pytest.raises(InputError, match=r"translates xx-yy, which .* xx-zz is not about"):
        scores(folder, replace(PAIR, languages=("xx", "zz")))
