"""Batches: every pair once, little padding, reproducible, independent of processes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve.data.alignments import Alignments
from sieve.data.batching import Batch, BatchingOptions, make_batch, plan_epoch, sorted_batches
from sieve.data.pair_sources import MemoryPairs, Mixture
from sieve.tokenize.vocabulary import BOS, EOS, PAD

pairs_strategy = st.lists(
    st.tuples(
        st.lists(st.integers(4, 20), min_size=0, max_size=30),
        st.lists(st.integers(4, 20), min_size=0, max_size=30),
    ),
    min_size=1,
    max_size=60,
)


def memory(pairs: list[tuple[list[int], list[int]]]) -> MemoryPairs:
    return MemoryPairs([s for s, _ in pairs], [t for _, t in pairs])


def random_pairs(count: int, seed: int = 0) -> MemoryPairs:
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.gamma(2.0, 12.0, count), 1, 99).astype(int)
    others = np.clip(lengths * rng.normal(1.1, 0.15, count), 1, 99).astype(int)
    return MemoryPairs([[5] * n for n in lengths], [[6] * n for n in others])


def test_batch_by_hand() -> None:
    source = memory([([5, 6, 7], [8]), ([9], [10, 11])])
    batch = make_batch(Mixture([source]), np.array([1, 0]), multiple=4)
    assert batch.pair_ids.tolist() == [0, 1]
    assert batch.src_ids.tolist() == [[5, 6, 7, EOS], [9, EOS, PAD, PAD]]
    assert batch.tgt_in.tolist() == [[BOS, 8, PAD, PAD], [BOS, 10, 11, PAD]]
    assert batch.tgt_out.tolist() == [[8, EOS, PAD, PAD], [10, 11, EOS, PAD]]
    assert batch.num_tokens == 5
    assert batch.src_ids.dtype == batch.tgt_in.dtype == batch.tgt_out.dtype == np.int64


@pytest.mark.parametrize("multiple", [1, 4, 8])
def test_widths_are_rounded_up(multiple: int) -> None:
    batch = make_batch(Mixture([memory([([5] * 8, [6] * 3)])]), np.array([0]), multiple)
    assert batch.src_ids.shape[1] == {1: 9, 4: 12, 8: 16}[multiple]
    assert batch.tgt_out.shape[1] == {1: 4, 4: 4, 8: 8}[multiple]


@settings(max_examples=60, deadline=None)
@given(pairs_strategy, st.integers(8, 200), st.integers(8, 120), st.integers(0, 3))
def test_an_epoch_holds_every_pair_once(
    pairs: list[tuple[list[int], list[int]]], batch_tokens: int, device_tokens: int, epoch: int
) -> None:
    source = memory(pairs)
    mixture = Mixture([source])
    options = BatchingOptions(batch_tokens, device_tokens, 4, seed=3)
    plan = plan_epoch(mixture, options, epoch)
    assert sorted(plan.order.tolist()) == list(range(len(pairs)))
    assert plan.update_tokens.sum() == source.tgt_lengths.sum() + len(pairs)
    for update in range(plan.num_updates):
        units = plan.units(update)
        batches = [make_batch(mixture, unit) for unit in units]
        assert sum(batch.num_tokens for batch in batches) == plan.update_tokens[update]
        assert sum(len(unit) for unit in units) == plan.num_sentences(update)
        for batch in batches:
            padded = max(batch.src_ids.size, batch.tgt_out.size)
            assert padded <= device_tokens or len(batch.pair_ids) == 1
            assert_faithful(batch, pairs)


def assert_faithful(batch: Batch, pairs: list[tuple[list[int], list[int]]]) -> None:
    for row, pair in enumerate(batch.pair_ids):
        src, tgt = pairs[pair]
        assert [i for i in batch.src_ids[row] if i != PAD] == [*src, EOS]
        assert [i for i in batch.tgt_in[row] if i != PAD] == [BOS, *tgt]
        assert [i for i in batch.tgt_out[row] if i != PAD] == [*tgt, EOS]


def test_plan_is_reproducible_and_epochs_differ() -> None:
    mixture = Mixture([random_pairs(2000)])
    options = BatchingOptions(2000, 1000, seed=5)
    first, again, second = (plan_epoch(mixture, options, epoch) for epoch in (0, 0, 1))
    assert np.array_equal(first.order, again.order)
    assert np.array_equal(first.unit_offsets, again.unit_offsets)
    assert not np.array_equal(first.order, second.order)
    other_seed = plan_epoch(mixture, BatchingOptions(2000, 1000, seed=6), 0)
    assert not np.array_equal(first.order, other_seed.order)


def test_updates_have_the_tokens_asked_for_and_little_padding() -> None:
    source = random_pairs(60_000)
    mixture = Mixture([source])
    plan = plan_epoch(mixture, BatchingOptions(50_000, 16_384, 4), 0)
    assert plan.update_tokens.mean() == pytest.approx(50_000, rel=0.04)
    units = [unit for update in range(plan.num_updates) for unit in plan.units(update)]
    batches = [make_batch(mixture, unit, 4) for unit in units]
    padded = sum(batch.src_ids.size + batch.tgt_out.size for batch in batches)
    real = sum(np.count_nonzero(b.src_ids) + np.count_nonzero(b.tgt_out) for b in batches)
    assert 1 - real / padded < 0.09  # 0.06 with the two million pairs of benchmarks/loader.py
    # an update mixes sentences of different lengths
    widths = [{make_batch(mixture, unit).src_ids.shape[1] for unit in plan.units(0)}]
    assert len(widths[0]) > 1


def test_corpora_are_repeated_and_read_from_their_own_source() -> None:
    first, second = memory([([5], [6])] * 3), memory([([7, 8], [9, 10])] * 2)
    mixture = Mixture([first, second], [1, 3])
    plan = plan_epoch(mixture, BatchingOptions(1000, 1000), 0)
    assert np.bincount(plan.order).tolist() == [1, 1, 1, 3, 3]
    batch = make_batch(mixture, np.array([4, 0, 3, 4]), 1)
    assert batch.pair_ids.tolist() == [0, 3, 4, 4]
    assert batch.src_ids.tolist() == [[5, EOS, PAD], [7, 8, EOS], [7, 8, EOS], [7, 8, EOS]]


def test_links_point_into_the_flat_alignment() -> None:
    source = memory([([5, 6], [7, 8]), ([9], [10])])
    links = Alignments(
        np.array([0, 3, 4]), np.array([0, 1, 1, 0], np.int16), np.array([0, 1, 0, 0], np.int16)
    )
    batch = make_batch(Mixture([source]), np.array([0, 1]), 4, [links])
    assert batch.links is not None
    T, U = 4, 4  # links src-tgt: 0-0 1-1 1-0 of pair 0, 0-0 of pair 1
    expected = [(0 * U + 0) * T + 0, (0 * U + 1) * T + 1, (0 * U + 0) * T + 1, (1 * U + 0) * T + 0]
    assert batch.links.index.tolist() == expected
    assert batch.links.weight.tolist() == [0.5, 1.0, 0.5, 1.0]


def test_evaluation_batches_hold_every_pair_once() -> None:
    source = random_pairs(500)
    batches = sorted_batches(source, 1024)
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
