"""What the ranks of a lexicon add to the head's log-odds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_lexicon import random_lexicon

from sieve.errors import ModelError
from sieve.selection.bonus import Bonus, with_bonuses
from sieve.selection.fusion import Fusion, LexiconBonus, best_ranks
from sieve.selection.lexicon import Lexicon

# token 1 has the list 8, 5, 7, 9; token 2 the list 7, 8; token 0 none
LEXICON = Lexicon(
    offsets=np.array([0, 0, 4, 6]),
    targets=np.array([8, 5, 7, 9, 7, 8], np.int32),
    counts=np.array([9, 8, 7, 6, 5, 4], np.int32),
    source_counts=np.array([0, 40, 9]),
    target_counts=np.zeros(10, np.int64),
)
FUSION = Fusion((1, 3), (4.0, 1.5))


def bonuses(*src_ids: int) -> dict[int, float]:
    (found,) = LexiconBonus(LEXICON, FUSION)([np.array(src_ids)])
    return dict(zip(found.ids.tolist(), found.values.tolist(), strict=True))


def test_the_best_rank_of_any_token_of_the_sentence_counts() -> None:
    assert bonuses(1) == {5: 1.5, 7: 1.5, 8: 4.0}  # 9 has rank 4, behind the last bucket
    assert bonuses(2, 1, 1, 0) == {5: 1.5, 7: 4.0, 8: 4.0}
    assert bonuses(0) == {}
    assert FUSION.by_rank.tolist() == [4.0, 1.5, 1.5]


@given(st.lists(st.integers(0, 39), min_size=1, max_size=9), st.integers(1, 6))
def test_best_ranks_are_those_of_the_lists(src_ids: list[int], most: int) -> None:
    lexicon = random_lexicon(40)
    expected: dict[int, int] = {}
    for token in src_ids:
        for rank, target in enumerate(lexicon.row(token)[0][:most].tolist()):
            expected[target] = min(rank, expected.get(target, most))
    targets, ranks = best_ranks(lexicon, np.array(src_ids), most)
    assert dict(zip(targets.tolist(), ranks.tolist(), strict=True)) == expected
    assert targets.tolist() == sorted(expected)


def test_bonuses_are_added_to_a_copy() -> None:
    logits = np.zeros((2, 4), np.float32)
    none = Bonus(np.zeros(0, np.int32), np.zeros(0, np.float32))
    some = Bonus(np.array([1, 3], np.int32), np.array([0.5, -2.0], np.float32))
    assert with_bonuses(logits, [some, none]).tolist() == [[0, 0.5, 0, -2], [0, 0, 0, 0]]
    assert not logits.any()
    assert with_bonuses(logits, ()) is logits


@pytest.mark.parametrize(
    ("ids", "values"),
    [([2, 1], [0.0, 0.0]), ([1, 1], [0.0, 0.0]), ([1], [0.0, 0.0])],
)
def test_bonuses_are_of_sorted_and_unique_ids(ids: list[int], values: list[float]) -> None:
    with pytest.raises(ValueError, match="bonuses"):
        Bonus(np.array(ids, np.int32), np.array(values, np.float32))


def test_a_table_survives_config_json() -> None:
    assert Fusion.from_json(FUSION.as_json(), "here") == FUSION
    assert FUSION.as_json() == {"kind": "rank", "edges": [1, 3], "bonus": [4.0, 1.5]}


@pytest.mark.parametrize(
    "content",
    [
        7,
        {"kind": "rank"},
        {"kind": "price", "edges": [1], "bonus": [1.0]},
        {"kind": "rank", "edges": [], "bonus": []},
        {"kind": "rank", "edges": [0], "bonus": [1.0]},
        {"kind": "rank", "edges": [2, 2], "bonus": [1.0, 2.0]},
        {"kind": "rank", "edges": [1.5], "bonus": [1.0]},
        {"kind": "rank", "edges": [1, 10**12], "bonus": [1.0, 1.0]},
        {"kind": "rank", "edges": [1], "bonus": [1.0, 2.0]},
        {"kind": "rank", "edges": [1], "bonus": [float("nan")]},
        {"kind": "rank", "edges": [1], "bonus": [1e39]},  # infinite as float32
        {"kind": "rank", "edges": [1], "bonus": [10**400]},
        {"kind": "rank", "edges": [1], "bonus": ["much"]},
        {"kind": "rank", "edges": 4, "bonus": 4},
    ],
)
def test_a_damaged_table(content: Any) -> None:
    message = "here: the bonuses of selection.fusion are damaged; run sieve calibrate --fuse again"
    with pytest.raises(ModelError, match=message):
        Fusion.from_json(content, "here")
