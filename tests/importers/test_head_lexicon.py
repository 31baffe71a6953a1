"""A head's votes, counted by hand."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from sieve.importers.head_lexicon import DistilOptions, lexicon_of_head
from sieve.selection.lexicon import Lexicon
from sieve.tokenize.vocabulary import EOS, OWN, IntArray, Specials

OFF = -9.0


@dataclass(frozen=True)
class Said:
    """An engine whose head says the same of a source token wherever it stands, or what is told."""

    votes: dict[int, dict[int, float]]
    V: int = 9
    specials: Specials = OWN

    def encode(self, src_ids: Any) -> Any:
        return src_ids

    def position_logits(self, encoded: Any) -> list[Any]:
        logits = []
        for ids in encoded:
            rows = np.full((len(ids), self.V), OFF, np.float32)
            for place, index in enumerate(ids):
                for target, probability in self.votes.get(int(index), {}).items():
                    rows[place, target] = np.log(probability / (1 - probability))
            logits.append(rows)
        return logits


def distilled(engine: Any, text: list[list[int]], threshold: float, top: int = 200) -> Lexicon:
    src_ids: list[IntArray] = [np.array(ids) for ids in text]
    return lexicon_of_head(engine, src_ids, (8, 9), DistilOptions(threshold, top))


def rows(lexicon: Lexicon) -> dict[int, dict[int, float]]:
    found = {index: lexicon.row(index) for index in range(lexicon.src_vocab_size)}
    return {
        index: dict(zip(targets.tolist(), shares.tolist(), strict=True))
        for index, (targets, shares) in found.items()
        if len(targets)
    }


def test_mean_probabilities_of_votes_above_the_threshold() -> None:
    engine = Said({4: {4: 0.75, 5: 0.95, 6: 0.4}, 5: {7: 0.5}, EOS: {8: 0.8, EOS: 0.99, 0: 0.99}})
    found = rows(distilled(engine, [[4, 5, EOS], [4, 4, EOS]], 0.45))
    # 6 is below the threshold; EOS is in every shortlist anyway, padding in none
    assert found == {
        4: pytest.approx({5: 0.95, 4: 0.75}),
        5: pytest.approx({7: 0.5}),
        EOS: pytest.approx({8: 0.8}),
    }
    assert list(found[4]) == [5, 4]


class Varying(Said):
    """The third source token of a sentence says nothing."""

    def position_logits(self, encoded: Any) -> list[Any]:
        logits = super().position_logits(encoded)
        for rows_ in logits:
            rows_[2:3] = OFF
        return logits


def test_where_a_token_did_not_vote_counts_as_zero() -> None:
    engine = Varying({4: {4: 0.9}, 5: {4: 0.9, 7: 0.6}})
    # 4 occurs four times and votes in three of them; 5 occurs once and does not vote
    text = [[4, 4, 4, EOS], [6, 4, 5, EOS]]
    assert rows(distilled(engine, text, 0.5)) == {4: pytest.approx({4: 0.675})}
    lexicon = distilled(engine, text, 0.5)
    assert lexicon.target_counts.tolist() == [0, 0, 0, 0, 3, 0, 0, 0, 0]


def test_the_best_stay_and_batches_add_up() -> None:
    engine = Said({4: {4: 0.6, 5: 0.7, 6: 0.8, 7: 0.8}})
    text = [[4, EOS]] * 40
    assert list(rows(distilled(engine, text, 0.5, top=3))[4]) == [6, 7, 5]
    assert rows(distilled(engine, text, 0.5)) == {
        4: pytest.approx({6: 0.8, 7: 0.8, 5: 0.7, 4: 0.6})
    }
    assert rows(distilled(engine, text, 0.9)) == {}
