from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve.bundle.directory import LEXICON_FILE
from sieve.data.alignments import Alignments
from sieve.data.corpus import Ragged
from sieve.errors import ModelError
from sieve.files import write_tensors
from sieve.selection.lexicon import Lexicon, LexiconBuilder

EOS = 2


def ragged(sentences: list[list[int]]) -> Ragged:
    flat = np.array([token for sentence in sentences for token in sentence], np.int32)
    return Ragged(flat, np.cumsum([0, *map(len, sentences)]).astype(np.int64))


def links(sentences: list[list[tuple[int, int]]]) -> Alignments:
    flat = np.array([link for s in sentences for link in s], np.int16).reshape(-1, 2)
    offsets = np.cumsum([0, *map(len, sentences)]).astype(np.int64)
    return Alignments(offsets, flat[:, 0], flat[:, 1])


def small() -> Lexicon:
    builder = LexiconBuilder(6, 9)
    # 4 is aligned to 7 twice, to 5 and 8 once; 5 to 6 once; the 3 of the second pair to nothing
    builder.add(
        ragged([[4, 5], [4]]), ragged([[7, 6], [3, 7]]), links([[(0, 0), (1, 1)], [(0, 1)]])
    )
    builder.add(ragged([[4]]), ragged([[8, 5]]), links([[(0, 0), (0, 1)]]))
    return builder.build()


def test_counts_and_order() -> None:
    lexicon = small()
    assert lexicon.offsets.tolist() == [0, 0, 0, 0, 0, 3, 4]
    assert lexicon.targets.tolist() == [7, 5, 8, 6]  # 5 before 8: the lower id of equals
    assert lexicon.counts.tolist() == [2, 1, 1, 1]
    assert lexicon.target_counts.tolist() == [0, 0, 0, 1, 0, 1, 1, 2, 1]
    assert (lexicon.src_vocab_size, lexicon.tgt_vocab_size) == (6, 9)


@pytest.mark.parametrize(
    ("src_ids", "k", "expected"),
    [
        ([4], 1, [7]),
        ([4, 4], 2, [5, 7]),
        ([5, 4, EOS], 1, [6, 7]),
        ([5, 4], 99, [5, 6, 7, 8]),
        ([3], 5, []),
        ([], 5, []),
    ],
)
def test_top_k(src_ids: list[int], k: int, expected: list[int]) -> None:
    assert small().top_k(src_ids, k).tolist() == expected


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 5))
def test_against_plain_counting(seed: int, num_pairs: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    builder, counter = LexiconBuilder(10, 12), Counter[tuple[int, int]]()
    src = [rng.integers(3, 10, rng.integers(1, 6)).tolist() for _ in range(num_pairs)]
    tgt = [rng.integers(3, 12, rng.integers(1, 6)).tolist() for _ in range(num_pairs)]
    for s, t in zip(src, tgt, strict=True):
        pairs = [(i, j) for i in range(len(s)) for j in range(len(t)) if rng.random() < 0.4]
        builder.add(ragged([s]), ragged([t]), links([pairs]), weight=3)
        counter.update((s[i], t[j]) for i, j in pairs for _ in range(3))
    lexicon = builder.build(max_k=4)
    for word in range(10):
        found = [(t, count) for (s, t), count in counter.items() if s == word]
        best = sorted(found, key=lambda item: (-item[1], item[0]))[:4]
        part = slice(lexicon.offsets[word], lexicon.offsets[word + 1])
        mine = zip(lexicon.targets[part].tolist(), lexicon.counts[part].tolist(), strict=True)
        assert list(mine) == best
        assert lexicon.top_k([word], k).tolist() == sorted(t for t, _ in best[:k])


def test_saved_and_mapped(tmp_path: Path) -> None:
    small().save(tmp_path)
    lexicon = Lexicon.open(tmp_path)
    assert lexicon.targets.tolist() == [7, 5, 8, 6]
    assert not lexicon.targets.flags.owndata
    assert lexicon.top_k([4], 2).tolist() == [5, 7]


def test_a_lexicon_stays_what_it_was_when_it_was_opened(tmp_path: Path) -> None:
    small().save(tmp_path)
    lexicon = Lexicon.open(tmp_path)
    path = tmp_path / LEXICON_FILE
    size = path.stat().st_size
    path.write_bytes(bytes(size))
    path.write_bytes(b"")
    assert lexicon.targets.tolist() == small().targets.tolist()


def test_damage_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"lexicon.safetensors: no such file"):
        Lexicon.open(tmp_path)
    path = tmp_path / LEXICON_FILE
    path.write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="not a readable safetensors file"):
        Lexicon.open(tmp_path)
    write_tensors(path, {"offsets": np.zeros(3, np.float32)})
    with pytest.raises(ModelError, match="not a lexicon: expected offsets as int64"):
        Lexicon.open(tmp_path)
    lexicon = small()
    replace(lexicon, targets=lexicon.targets[:-1]).save(tmp_path)
    with pytest.raises(ModelError, match="damaged: the offsets do not fit 3 entries"):
        Lexicon.open(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("targets", -1, "target ids -1 to "),
        ("targets", 10**6, "to 1000000, expected 0 to 8$"),
        ("counts", -5, "counts has -5, expected 0 or more"),
        ("source_counts", -1, "source_counts has -1"),
        ("target_counts", -1, "target_counts has -1"),
    ],
)
def test_numbers_that_cannot_be(tmp_path: Path, name: str, value: int, message: str) -> None:
    lexicon = small()
    numbers = getattr(lexicon, name).copy()
    numbers[-1] = value
    replace(lexicon, **{name: numbers}).save(tmp_path)
    with pytest.raises(ModelError, match=f"damaged: .*{message}"):
        Lexicon.open(tmp_path)


@pytest.mark.slow
def test_of_full_size(tmp_path: Path) -> None:
    """32,000 source words x 10,000 targets, 2.6 GB: read once, and never copied."""
    words, k = 32_000, 10_000
    targets = np.empty(words * k, np.int32)
    for word in range(words):
        targets[word * k : (word + 1) * k] = (word + np.arange(k)) % words
    offsets = np.arange(words + 1, dtype=np.int64) * k
    totals = np.full(words, k, np.int64)
    Lexicon(offsets, targets, np.ones_like(targets), totals, totals).save(tmp_path)
    del targets
    memory = psutil.Process().memory_info().rss
    lexicon = Lexicon.open(tmp_path)
    sentence = [5, 31_999, 700, 5]
    assert lexicon.top_k(sentence, 3).tolist() == [0, 1, 5, 6, 7, 700, 701, 702, 31_999]
    rows = [set((word + np.arange(k)) % words) for word in sentence]
    assert len(lexicon.top_k(sentence, k)) == len(set.union(*rows))
    size = (tmp_path / LEXICON_FILE).stat().st_size
    assert psutil.Process().memory_info().rss - memory < 1.05 * size
