"""Phrases for the head: consistent with the alignment, whole words, the same for a seed."""

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline.text.fragments as module
from pipeline.text.fragments import Words, finished, fragments, partner, phrase
from sieve.data.alignments import Alignments

# 0 he  1 kicked  2 the  3 bucket  |  0 er  1 hat  2 ins  3 Gras  4 gebissen
IDIOM = [(0, 0), (1, 1), (1, 4), (2, 2), (3, 3)]
LINKS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=12)


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((0, 0), (0, 0)),
        ((2, 3), (2, 3)),
        ((1, 1), None),  # between "hat" and "gebissen" lie words of others
        ((1, 2), None),
        ((1, 3), (1, 4)),
        ((0, 3), (0, 4)),
    ],
)
def test_partners_by_hand(span: tuple[int, int], expected: tuple[int, int] | None) -> None:
    assert partner(IDIOM, span) == expected


def test_words_without_links() -> None:
    assert partner([(0, 0), (2, 1)], (1, 1)) is None
    assert partner([(0, 0), (2, 1)], (0, 1)) == (0, 0)
    assert partner([(0, 0), (1, 2)], (0, 1)) == (0, 2)  # one in between belongs to nobody
    assert phrase(5, [], random.Random(0)) is None


@given(LINKS, st.integers(0, 10**6))
def test_no_link_leaves_a_phrase(links: list[tuple[int, int]], seed: int) -> None:
    if found := phrase(9, links, random.Random(seed)):
        (first, last), (low, high) = found
        assert 0 <= first <= last <= 8
        assert last - first < 7
        assert any(first <= s <= last for s, _ in links)
        assert all((first <= s <= last) == (low <= t <= high) for s, t in links)


def test_words_of_pieces() -> None:
    starts = np.array([True, False, True])
    words = Words(np.array([0, 1, 1, 2, 0, 1]), starts)
    assert len(words) == 3
    assert words.of_piece == [0, 0, 0, 1, 2, 2]
    assert words.pieces((0, 0)) == [0, 1, 1]
    assert words.pieces((1, 2)) == [2, 0, 1]
    assert len(Words(np.array([1, 1]), starts)) == 1  # a line that begins inside a word
    assert len(Words(np.array([], np.int32), starts)) == 0


def test_punctuation_and_case() -> None:
    assert finished("„Guten Tag“, sagte er.", lower=False) == "Guten Tag“, sagte er"
    assert finished("(Take care!)", lower=True) == "take care"
    assert finished(" – ", lower=True) == ""


class _Letters:
    """A piece for every letter, and one for each that begins a word."""

    pieces = tuple(a + b for a, b in product(("", "▁"), "abcdefghijklmnopqrstuvwxyzABCD."))
    vocab_size = len(pieces)

    def piece(self, index: int) -> str:
        return self.pieces[index]

    def encode_words(self, words: list[str]) -> list[int]:
        return [self.pieces.index(p) for w in words for p in (f"▁{w[0]}", *w[1:])]

    def decode(self, rows: list[list[int]]) -> list[str]:
        return ["".join(map(self.piece, row)).replace("▁", " ").strip() for row in rows]


class _Corpus:
    """Lines of words whose n-th is the translation of the n-th."""

    def __init__(self, lines: list[tuple[str, str]]) -> None:
        self.source = self.target = _Letters()
        self.rows = [[self.source.encode_words(side.split()) for side in line] for line in lines]
        self.num_pairs = len(lines)

    def tokenizers(self) -> "_Corpus":
        return self

    def pairs(self, chosen: list[int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        first, second = zip(*(map(np.array, self.rows[i]) for i in chosen), strict=True)
        return list(first), list(second)


def _first_letters(lines: list[tuple[str, str]]) -> Alignments:
    """Links the first pieces of words in the same place."""
    found = []
    for line in lines:
        places = [np.cumsum([0, *map(len, side.split())])[:-1] for side in line]
        found.append(np.stack(places, axis=1))
    offsets = np.cumsum([0, *map(len, found)])
    links = np.concatenate(found).astype(np.int16)
    return Alignments(offsets, links[:, 0], links[:, 1])


def test_phrases_of_a_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [("ab cde Df g.", "xxy z Bbb cc.")] * 50
    monkeypatch.setattr(module, "SHARE", 1.0)
    corpus, links = _Corpus(lines), _first_letters(lines)
    sources, targets = fragments(corpus, links, 1)  # type: ignore[arg-type]
    partners = dict(zip(["ab", "cde", "Df", "g"], ["xxy", "z", "Bbb", "cc"], strict=True))
    partners |= {"df": "bbb"}
    for source, target in zip(sources, targets, strict=True):
        assert target.split() == [partners[word] for word in source.split()]
    assert {"ab cde", "Df", "df", "g", "ab cde Df g"} & set(sources)
    assert len(set(sources)) == len(sources)
    assert (sources, targets) == fragments(corpus, links, 1)  # type: ignore[arg-type]
    assert (sources, targets) != fragments(corpus, links, 2)  # type: ignore[arg-type]
