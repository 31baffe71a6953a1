import pytest

from sieve.errors import ConfigError, InputError, MissingExtraError, ModelError, SieveError, require


def test_one_tree() -> None:
    for kind in (InputError, ConfigError, ModelError, MissingExtraError):
        assert issubclass(kind, SieveError)


def test_require_returns_the_module() -> None:
    import json

    assert require("json", "train", "training") is json


def test_missing_extra_is_one_sentence_with_the_command() -> None:
    with pytest.raises(MissingExtraError) as caught:
        require("sieve_no_such_module.sub", "train", "training")
    assert str(caught.value) == (
        "training needs sieve_no_such_module, which is not installed: "
        "pip install 'sieve-nmt[train]'"
    )
