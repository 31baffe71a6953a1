"""A text of several sentences says of itself what its sentences say, put together."""

from dataclasses import replace

import pytest

from sieve.engines.options import SearchOptions
from sieve.repair.draft import Edit
from sieve.translate.parts import Split, joined
from sieve.translate.translation import Translation

FIRST = Translation(
    text="A b.", score=-1.0, shortlist_size=30, vocab_size=100, pieces=("a", "b"),
    token_scores=(-0.25, -0.75), positions=(0, 2), returns=1, confidence=0.9, ids=(7, 8),
)  # fmt: skip
SECOND = replace(
    FIRST, text="C.", score=-4.0, shortlist_size=20, pieces=("c",), token_scores=(-4.0,),
    positions=(5,), returns=2, confidence=0.4, ids=(9,),
)  # fmt: skip


def of_two(first: Translation, second: Translation) -> Translation:
    parts = Split([], [0, 2], [()])
    [whole] = joined([[first], [second]], parts, SearchOptions(), "en")
    assert whole is not None
    return whole


@pytest.mark.parametrize("swapped", [False, True])
def test_the_surest_and_the_largest_of_no_sentence_is_lost(swapped: bool) -> None:
    pair = (SECOND, FIRST) if swapped else (FIRST, SECOND)
    whole = of_two(*pair)
    assert whole.confidence == 0.4  # no surer than the least sure
    assert whole.shortlist_size == 30  # as large as the largest
    assert whole.text == " ".join(part.text for part in pair)
    assert whole.token_scores == (*pair[0].token_scores, *pair[1].token_scores)
    assert whole.score == -5.0
    assert whole.pieces == (*pair[0].pieces, *pair[1].pieces)
    assert whole.positions == (*pair[0].positions, *pair[1].positions)
    assert whole.ids == (*pair[0].ids, *pair[1].ids)
    assert whole.returns == 3


def test_confidence_where_not_every_sentence_has_one() -> None:
    unknown = replace(SECOND, confidence=None)
    assert of_two(FIRST, unknown).confidence == 0.9
    assert of_two(replace(FIRST, confidence=None), unknown).confidence is None


def test_corrections_are_where_they_are_in_the_whole_text() -> None:
    first = replace(FIRST, edits=(Edit(0, 1, "A", "names"),))
    second = replace(SECOND, edits=(Edit(0, 2, "C.", "surface"),))
    whole = of_two(first, second)
    assert whole.edits == (Edit(0, 1, "A", "names"), Edit(5, 7, "C.", "surface"))
    assert [whole.text[edit.start : edit.end] for edit in whole.edits] == ["A", "C."]
