"""Translators that say what they are told, whatever they read."""

from collections.abc import Sequence
from typing import Any

import pytest

from sieve.data.corpus import Corpus
from sieve.engines.engine import Hypothesis
from sieve.engines.options import SearchOptions
from sieve.selection.parsing import Resources
from sieve.tokenize.tokenizer import Tokenizer
from sieve.tokenize.vocabulary import IntArray
from sieve.tokenize.words import word_spans
from sieve.translate.translator import Translator


class Copies:
    """An engine that gives back what it reads, forwards or backwards."""

    def __init__(self, tokenizer: Tokenizer, backwards: bool = False) -> None:
        self.vocab_size = tokenizer.vocab_size
        self._tokenizer = tokenizer
        self.backwards = backwards

    def translate(
        self,
        src_ids: Sequence[IntArray],
        selection: Any,
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        return [[self._found(ids.tolist()[:-1])] for ids in src_ids]

    def _found(self, ids: list[int]) -> Hypothesis:
        spans = word_spans(self._tokenizer, ids)
        places = [place for span in (spans[::-1] if self.backwards else spans) for place in span]
        tokens = tuple(ids[place] for place in places)
        return Hypothesis(tokens, (0.0,) * (len(ids) + 1), 1, tuple(places))


def _translator(toy_data: Any, backwards: bool) -> Translator:
    tokenizers = Corpus.open(toy_data.corpus).tokenizers()
    engine: Any = Copies(tokenizers.target, backwards)
    return Translator(engine, tokenizers, Resources(threshold=None))


@pytest.fixture(scope="session")
def copier(toy_data: Any) -> Translator:
    """Every translation is its source."""
    return _translator(toy_data, backwards=False)


@pytest.fixture(scope="session")
def turner(toy_data: Any) -> Translator:
    """Every translation is its source, the last word first."""
    return _translator(toy_data, backwards=True)
