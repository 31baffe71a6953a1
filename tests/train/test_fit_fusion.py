"""Learning what a lexicon's ranks add to a head's logits."""

import math

import numpy as np
import pytest

from sieve.selection.fusion import EDGES
from sieve.selection.lexicon import Lexicon
from sieve.tokenize.vocabulary import EOS
from sieve.train.fit_fusion import FusionTally, fitted

V = 12


def lexicon_of(*targets: int) -> Lexicon:
    """One source token, 5, whose list this is."""
    offsets = np.array([0] * 6 + [len(targets)])
    return Lexicon(
        offsets,
        np.array(targets, np.int32),
        np.arange(len(targets), 0, -1, dtype=np.int32),
        np.full(6, 99),
        np.zeros(V, np.int64),
    )


def test_two_buckets_by_hand() -> None:
    # all logits are 0; a quarter of the other tokens is written, and a half of those in the list
    table = np.array([[[3e6, 1e6]], [[2e6, 2e6]]])
    c, bonus = fitted(table, np.array([0.0]))
    assert c == pytest.approx(-math.log(3), abs=1e-4)
    assert bonus == pytest.approx(math.log(3), abs=1e-4)


def test_the_logit_counts_in_full_and_the_intercept_undoes_its_shift() -> None:
    odds, bonus = np.arange(-6.0, 7.0), np.array([0.0, 2.0, -1.0])
    p = 1 / (1 + np.exp(-(odds + bonus[:, None])))
    table = np.stack((1 - p, p), axis=-1) * 1e6
    # the head is over-sure by 7, as λ_p makes it
    np.testing.assert_allclose(fitted(table, odds + 7.0), [-7.0, 2.0, -1.0], atol=1e-4)


def test_a_bucket_without_tokens_gets_no_bonus() -> None:
    table = np.array([[[3.0, 1.0]], [[0.0, 0.0]]])
    assert fitted(table, np.array([0.0]))[1] == 0.0


def test_few_tokens_are_trusted_little() -> None:
    table = np.array([[[3e6, 1e6]], [[0.0, 1.0]]])
    assert 0 < fitted(table, np.array([0.0]))[1] < 1


def test_what_is_counted() -> None:
    rng = np.random.default_rng(0)
    tally = FusionTally(lexicon_of(7, 8, 9))
    logits = np.zeros((1, V), np.float32)
    logits[0, EOS] = 30.0  # in every shortlist and in no output: says nothing of the others
    # 7 is always written, 8 never, the others half of the time
    for _ in range(400):
        written = rng.random(V) < 0.5
        written[7], written[8] = True, False
        tally.add(logits, [np.array([5, EOS])], [np.flatnonzero(written).tolist()])
    fusion = tally.fit()
    assert fusion.edges == EDGES
    first, second, third, *rest = fusion.bonus
    assert first > 3
    assert second < -3
    assert third == pytest.approx(0, abs=0.25)
    assert rest == [0.0] * len(rest)
