"""The examples in docstrings, run with the models that ship."""

import doctest
import importlib

import pytest

from sieve.bundle.catalogue import built_in

MODULES = [
    "sieve.translate.translator",
    "sieve.translate.load",
    "sieve.documents.streaming",
    "sieve.bulk.ray_translate",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    if "en-de" not in built_in():
        pytest.skip("the model en-de is not here")
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0, "no examples"
    assert found.failed == 0
