"""Translators that say what they are told, whatever they read."""

from typing import Any

import pytest
from echo import Echo

from sieve.data.corpus import Corpus
from sieve.selection.parsing import Resources
from sieve.translate.translator import Translator


def _translator(toy_data: Any, backwards: bool) -> Translator:
    tokenizers = Corpus.open(toy_data.corpus).tokenizers()
    engine: Any = Echo(tokenizers.target, backwards=backwards)
    return Translator(engine, tokenizers, Resources(threshold=None))


@pytest.fixture(scope="session")
def copier(toy_data: Any) -> Translator:
    """Every translation is its source."""
    return _translator(toy_data, backwards=False)


@pytest.fixture(scope="session")
def turner(toy_data: Any) -> Translator:
    """Every translation is its source, the last word first."""
    return _translator(toy_data, backwards=True)
