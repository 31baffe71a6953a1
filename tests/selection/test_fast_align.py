# private: against the series

import math
from collections import defaultdict

import numpy as np
import pytest

from sieve.data.corpus import Ragged
from sieve.data.corpus_writer import ragged
from sieve.selection.aligners.fast_align import FastAlign, FastAlignOptions, _digamma
from sieve.selection.aligners.translation_table import TranslationTable

Sentences = list[list[int]]


def digamma(x: float) -> float:
    result = 0.0
    while x < 30:
        result -= 1 / x
        x += 1
    return result + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4)


class PlainFastAlign:
    """The same model written down naively, one cell at a time."""

    def __init__(self, src: Sentences, tgt: Sentences, options: FastAlignOptions) -> None:
        self.options, self.tension = options, options.tension
        self.theta: dict[tuple[int, int], float] = defaultdict(lambda: 1.0)
        for iteration in range(options.iterations):
            counts: dict[tuple[int, int], float] = defaultdict(float)
            feature = 0.0
            for s, t in zip(src, tgt, strict=True):
                for j, word in enumerate(t):
                    cells = self.cells(s, word, j, len(t))
                    total = sum(cells)
                    for i, cell in enumerate(cells):
                        counts[s[i - 1] if i else -1, word] += cell / total
                        if i:
                            feature -= cell / total * abs(i / len(s) - (j + 1) / len(t))
            if iteration:
                self.fit(src, tgt, feature)
            totals: dict[int, float] = defaultdict(float)
            for (source, _), count in counts.items():
                totals[source] += count + options.alpha
            self.theta = {
                (source, target): math.exp(digamma(count + options.alpha) - digamma(totals[source]))
                for (source, target), count in counts.items()
            }

    def prior(self, j: int, T: int, U: int) -> list[float]:
        values = [math.exp(-self.tension * abs((i + 1) / T - (j + 1) / U)) for i in range(T)]
        return [value / sum(values) for value in values]

    def cells(self, s: list[int], word: int, j: int, U: int) -> list[float]:
        p_null = self.options.p_null
        prior = self.prior(j, len(s), U)
        cells = [(1 - p_null) * p * self.theta[w, word] for w, p in zip(s, prior, strict=True)]
        return [p_null * self.theta[-1, word], *cells]

    def fit(self, src: Sentences, tgt: Sentences, feature: float) -> None:
        tokens = sum(map(len, tgt))
        for _ in range(8):
            expected = 0.0
            for s, t in zip(src, tgt, strict=True):
                for j in range(len(t)):
                    for i, p in enumerate(self.prior(j, len(s), len(t))):
                        expected -= p * abs((i + 1) / len(s) - (j + 1) / len(t))
            self.tension = min(max(self.tension + 20 * (feature - expected) / tokens, 0.1), 14)

    def align(self, s: list[int], t: list[int]) -> list[int]:
        return [int(np.argmax(self.cells(s, w, j, len(t)))) - 1 for j, w in enumerate(t)]


def random_pairs(seed: int, count: int) -> tuple[Sentences, Sentences]:
    rng = np.random.default_rng(seed)
    src = [rng.integers(4, 12, rng.integers(1, 6)).tolist() for _ in range(count)]
    # the translation of w is w + 8; now and then another word, or one that comes from nothing
    tgt = [[w + 8 if rng.random() < 0.8 else int(rng.integers(4, 20)) for w in s] for s in src]
    return src, [[*t, 3] if rng.random() < 0.3 else t for t in tgt]


def trained(src: Ragged, tgt: Ragged, weights: list[int] | None = None) -> FastAlign:
    model = FastAlign(12, 20)
    model.train(src, tgt, np.array(weights or [1] * len(src)), lambda pairs: None)
    return model


@pytest.mark.parametrize("seed", range(4))
def test_against_the_plain_model(seed: int) -> None:
    src, tgt = random_pairs(seed, 40)
    plain = PlainFastAlign(src, tgt, FastAlignOptions())
    model = trained(ragged(src), ragged(tgt))
    assert model.tension == pytest.approx(plain.tension, rel=1e-4)
    table = model.table()
    for word in range(12):
        for place in range(table.offsets[word], table.offsets[word + 1]):
            expected = plain.theta[word, int(table.targets[place])]
            assert table.probabilities[place] == pytest.approx(expected, rel=1e-3, abs=1e-7)
    assert model.align(ragged(src), ragged(tgt)).tolist() == [
        position for s, t in zip(src, tgt, strict=True) for position in plain.align(s, t)
    ]


def test_a_weight_is_a_repetition() -> None:
    src, tgt = random_pairs(9, 20)
    weighted = trained(ragged(src), ragged(tgt), [3] * 5 + [1] * 15)
    repeated = trained(ragged(src[:5] * 2 + src), ragged(tgt[:5] * 2 + tgt))
    np.testing.assert_allclose(
        weighted.table().probabilities, repeated.table().probabilities, rtol=1e-4
    )


def test_learns_and_reports() -> None:
    src = [[4, 5, 6], [5, 4], [6, 4], [4], [5, 6]] * 10
    tgt = [[14, 15, 16], [15, 14], [16, 14], [14], [15, 16]] * 10
    model = FastAlign(12, 20)
    done: list[int] = []
    model.train(ragged(src), ragged(tgt), np.ones(len(src), int), done.append)
    assert sum(done) == model.passes * len(src)
    # a pair never seen, words never seen, an empty side
    src_new, tgt_new = [[6, 5, 4], [4, 9], [], [4]], [[16, 15, 14], [14, 19], [14], []]
    positions = model.align(ragged(src_new), ragged(tgt_new))
    assert positions.tolist() == [0, 1, 2, 0, 1, -1]


def test_from_counts() -> None:
    table = TranslationTable(
        np.array([0, 0, 2, 3]), np.array([1, 2, 3], np.int32), np.array([0.75, 0.25, 1], np.float32)
    )
    model = FastAlign.from_counts(table, np.array([0, 5, 5, 5]), 4.0)
    assert model.align(ragged([[1, 2]]), ragged([[3, 1, 2]])).tolist() == [1, 0, 0]


@pytest.mark.parametrize("x", [0.01, 0.3, 1.0, 7.5, 1e4])
def test_digamma(x: float) -> None:
    assert _digamma(np.array([x]))[0] == pytest.approx(digamma(x), rel=1e-6)
