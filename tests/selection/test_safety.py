"""Words that every sentence can use."""

import numpy as np
import pytest

from sieve.errors import ConfigError, ModelError
from sieve.selection.parsing import Resources, parse_selection
from sieve.selection.safety import SafeTokens
from sieve.selection.selectors import NeuralSelection, Union
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.tokenizer_training import TokenizerOptions, train_tokenizers
from sieve.tokenize.vocabulary import EOS

ENGLISH = [f"the {word} of {n}, and so on: a{n}!" for n, word in enumerate(["cat", "dog", "sun"])]
GERMAN = [f"das {word} der {n}, und so fort: b{n}?" for n, word in enumerate(["ab", "wo", "rot"])]


@pytest.fixture(scope="module", params=[True, False], ids=["joint", "apart"])
def tokenizers(request: pytest.FixtureRequest) -> Tokenizers:
    options = TokenizerOptions(vocab_size=362, separate=not request.param)
    return train_tokenizers(options, ENGLISH * 20, GERMAN * 20)


def safe(tokenizers: Tokenizers, text: str) -> set[str]:
    ids = np.array([*tokenizers.source.encode([text])[0], EOS])
    [found] = SafeTokens(tokenizers).words([ids])
    return {tokenizers.target.piece(int(index)) for index in found}


def test_what_a_sentence_says_can_be_copied(tokenizers: Tokenizers) -> None:
    for text in ("the cat", "a1 xyz", "das", "и 7"):
        reachable = safe(tokenizers, text)
        spelled = tokenizers.target.encode([text])[0]
        again = {tokenizers.target.piece(index) for index in spelled}
        letters = {piece for piece in again if piece.strip("▁")}
        if tokenizers.joint:
            assert letters <= reachable
        else:  # piece by piece: perhaps in other pieces, but it can be spelled
            text = "".join(sorted(reachable)).replace("▁", "")
            assert all(c in text for piece in letters for c in piece.strip("▁"))


def test_digits_and_punctuation_always(tokenizers: Tokenizers) -> None:
    vocabulary = {tokenizers.target.piece(i) for i in range(tokenizers.target.vocab_size)}
    single = {piece for piece in vocabulary if piece.strip("▁") in set("0123456789.,:!?")}
    assert single
    assert single <= safe(tokenizers, "the")


def test_bytes_where_a_character_needs_them(tokenizers: Tokenizers) -> None:
    assert "<0xD0>" not in safe(tokenizers, "the cat")
    assert {f"<0x{value:02X}>" for value in range(256)} <= safe(tokenizers, "the ж")


def test_selections(tokenizers: Tokenizers) -> None:
    words = SafeTokens(tokenizers)
    resources = Resources(threshold=0.9, safe=True, safe_tokens=words)
    assert parse_selection(None, resources) == Union((NeuralSelection(0.9), words))
    assert str(parse_selection("nvs+safe", resources)) == "nvs:0.9+safe"
    with pytest.raises(ConfigError, match="'safe' takes no value"):
        parse_selection("safe:3", resources)
    with pytest.raises(ModelError, match="requires a tokenizer"):
        parse_selection("safe", Resources())
