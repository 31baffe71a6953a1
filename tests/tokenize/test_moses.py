from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve.errors import ConfigError, InputError, ModelError
from sieve.tokenize.moses import MosesBpeTokenizer, count_words, train_moses_bpe
from sieve.tokenize.vocabulary import BOS, EOS, PAD, UNK

LINES = ["Low, lower, lowest.", "New, newer, newest!", "Don't widen the wide 1,000 km."] * 4


@pytest.fixture(scope="module")
def tokenizer() -> MosesBpeTokenizer:
    return MosesBpeTokenizer("en", *train_moses_bpe(count_words("en", LINES), 30))


def test_merges_by_hand() -> None:
    # a+b and b+c$ are seen twice in "abc", the greater text goes first; then a+bc$; a+b$ only once
    codes, pieces = train_moses_bpe(Counter({"abc": 2, "ab": 1}), 10)
    assert codes.split("\n") == ["#version: 0.2", "b c</w>", "a bc</w>", ""]
    tokenizer = MosesBpeTokenizer("en", codes, pieces)
    ids = tokenizer.encode(["abc cab bbc"])[0]
    assert [tokenizer.piece(i) for i in ids] == ["abc", "c@@", "a@@", "b", "b@@", "b@@", "c"]


def test_round_trip_of_ordinary_text(tokenizer: MosesBpeTokenizer) -> None:
    ids = tokenizer.encode(LINES)
    assert tokenizer.decode(ids) == LINES
    assert tokenizer.decode([[BOS, *ids[0], EOS, PAD]]) == LINES[:1]


def test_unknown_characters_are_unk_and_shown(tokenizer: MosesBpeTokenizer) -> None:
    (ids,) = tokenizer.encode(["low 家 low"])
    assert ids.count(UNK) == 1
    assert tokenizer.decode([ids]) == ["low ⁇ low"]
    # a known word of known characters never has an unknown piece
    assert UNK not in tokenizer.encode(["tnewolsw twiw"])[0]


@given(st.text())
@settings(max_examples=300)
def test_never_a_crash(tokenizer: MosesBpeTokenizer, text: str) -> None:
    (ids,) = tokenizer.encode([text])
    assert all(UNK <= i < tokenizer.vocab_size for i in ids)
    tokenizer.decode([ids])


@given(st.lists(st.integers(0, 40), max_size=20))
def test_any_ids_decode(tokenizer: MosesBpeTokenizer, ids: list[int]) -> None:
    tokenizer.decode([ids])


def test_unusable_training_and_files() -> None:
    with pytest.raises(InputError, match="no text left"):
        train_moses_bpe(Counter(), 10)
    with pytest.raises(ConfigError, match="10 merges cannot be learned from 1 different"):
        train_moses_bpe(Counter({"a": 5}), 10)
    with pytest.raises(ModelError, match="expected merges of '#version"):
        MosesBpeTokenizer("en", "a b\n", ["a"])
    with pytest.raises(ModelError, match="line 2 of its merges: expected two pieces"):
        MosesBpeTokenizer("en", "#version: 0.2\na b c\n", ["a"])
    with pytest.raises(ModelError, match="listed twice"):
        MosesBpeTokenizer("en", "#version: 0.2\na b\n", ["a", "a"])
