# private: what is held in memory

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve.errors import ConfigError
from sieve.evaluate.measure.recall import Recall, RecallMeter, recall_of_sets
from sieve.tokenize.vocabulary import BOS, EOS, PAD

V = 8
# two sentences over eight words; 0 to 3 are PAD, BOS, EOS, UNK
LOGITS = np.array(
    [
        [-9.0, -9.0, -9.0, -9.0, 3.0, 1.0, -1.0, -5.0],
        [-9.0, -9.0, 4.0, -9.0, 0.5, -2.0, 2.5, -6.0],
    ]
)
REFERENCES = [[4, 5, 5, 7, EOS, PAD], [BOS, 6, 5]]


def measure(**settings: object) -> RecallMeter:
    meter = RecallMeter(2, V, **settings)  # type: ignore[arg-type]
    meter.add(LOGITS, REFERENCES)
    return meter


@pytest.mark.parametrize(
    ("threshold", "recall", "mean_size"),
    [
        # z > 0: {4, 5} of {4, 5, 7}, {6} of {5, 6}; sets {4, 5, EOS} and {4, 6, EOS}
        (0.5, (2 / 3 + 1 / 2) / 2, 3.0),
        # z > 2.197: {4} of {4, 5, 7}, {6} of {5, 6}; EOS is in both sets but scores high in one
        (0.9, (1 / 3 + 1 / 2) / 2, 2.0),
        (1.0, 0.0, 1.0),
        (0.0, 1.0, 8.0),
    ],
)
def test_at_thresholds(threshold: float, recall: float, mean_size: float) -> None:
    (point,) = measure(thresholds=[threshold], sizes=[]).at_thresholds()
    assert point == Recall(pytest.approx(recall), mean_size, V, threshold)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("size", "recall", "mean_size", "cut"),
    [
        (1, 0.0, 1.0, 3.0),
        # EOS takes 2 of the 4 places; 3.0 and 2.5 take the others; the next is 1.0
        (2, (1 / 3 + 1 / 2) / 2, 2.0, 1.0),
        (3, (2 / 3 + 1 / 2) / 2, 3.0, -1.0),
        # 10 places, 2 for EOS; 6 words lie above -6, and the eight -9 stand together: none fits
        (4, (2 / 3 + 1) / 2, 4.0, -5.0),
        (5, (3 / 3 + 1) / 2, 5.0, -9.0),
        (7, 1.0, 5.0, -9.0),
        (8, 1.0, 8.0, -math.inf),
        (99, 1.0, 8.0, -math.inf),
    ],
)
def test_at_sizes(size: int, recall: float, mean_size: float, cut: float) -> None:
    (point,) = measure(sizes=[size]).at_sizes()
    assert point.recall == pytest.approx(recall)
    assert point.mean_size == mean_size
    assert point.threshold == pytest.approx(1 / (1 + math.exp(-cut)))


def test_sentences_wholly_in_reach() -> None:
    """The least logits that the sentences need are -5 and -2; the cuts are those above."""
    assert measure(sizes=[1, 2, 3, 4, 5]).in_reach() == [0.0, 0.0, 0.0, 0.5, 1.0]


def test_a_sentence_with_nothing_to_find_counts_for_the_size_alone() -> None:
    meter = RecallMeter(2, V, thresholds=[0.5], sizes=[])
    meter.add(LOGITS, [REFERENCES[0], [EOS]])
    (point,) = meter.at_thresholds()
    assert point.recall == pytest.approx(2 / 3)
    assert point.mean_size == 3.0


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(5, 40), st.integers(1, 7))
def test_streaming_equals_all_at_once_and_the_definition(
    seed: int, num_sentences: int, vocab_size: int, batch: int
) -> None:
    rng = np.random.default_rng(seed)
    # few distinct values, so that ties are common
    logits = rng.integers(-5, 6, (num_sentences, vocab_size)).astype(np.float32)
    references = [rng.integers(0, vocab_size, rng.integers(0, 6)) for _ in range(num_sentences)]
    sizes = [1, 2, 3, vocab_size // 2, vocab_size]
    meter = RecallMeter(num_sentences, vocab_size, thresholds=[0.3, 0.9], sizes=sizes)
    for start in range(0, num_sentences, batch):
        meter.add(logits[start : start + batch], references[start : start + batch])
    for point in meter.at_thresholds():
        assert point.threshold is not None
        odds = math.log(point.threshold / (1 - point.threshold))
        expected = recall_of_sets(
            [np.flatnonzero(z > odds) for z in logits], references, vocab_size
        )
        assert (point.recall, point.mean_size) == (expected.recall, expected.mean_size)
    cuts = [*np.unique(logits), -math.inf]
    for size, point in zip(sizes, meter.at_sizes(), strict=True):
        expected = max(
            (
                recall_of_sets([np.flatnonzero(z > cut) for z in logits], references, vocab_size)
                for cut in cuts
            ),
            key=lambda found: found.mean_size if found.mean_size <= size else -1.0,
        )
        assert (point.recall, point.mean_size) == (expected.recall, expected.mean_size)


def test_recall_of_sets() -> None:
    # {4} of {4, 5, 7}; {5, 6} of {5, 6}; EOS is added to the first set and was in the second
    found = recall_of_sets([[4, 6], [6, 5, EOS]], REFERENCES, V)
    assert found == Recall((1 / 3 + 1) / 2, 3.0, V)
    assert str(found) == "66.7 at 3 of 8"


def test_memory_does_not_grow_with_the_vocabulary() -> None:
    meter = RecallMeter(400, 20_000, sizes=[10])
    rng = np.random.default_rng(1)
    for _ in range(20):
        meter.add(rng.normal(size=(20, 20_000)), [[5]] * 20)
    assert len(meter._top) < 2 * 10 * 400 + 20 * 20_000
    assert meter.at_sizes()[0].mean_size == 10.0


def test_errors() -> None:
    with pytest.raises(ConfigError, match="got sizes \\[0\\], expected at least 1"):
        RecallMeter(1, V, sizes=[0])
    with pytest.raises(ConfigError, match=r"got the threshold 1.5, expected a number from 0 to 1"):
        RecallMeter(1, V, thresholds=[1.5])
    with pytest.raises(ValueError, match="4 sentences, but 2 were announced"):
        measure().add(LOGITS, REFERENCES)
    with pytest.raises(ValueError, match="expected \\(1, 8\\)"):
        RecallMeter(2, V).add(LOGITS, [[4]])
