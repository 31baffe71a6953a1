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


def test_a_message_is_one_line_that_a_terminal_can_show() -> None:
    error = InputError("got 'a\nb\x1b[2Jc\ud800\u202e', expected é, 語 and 😀")
    assert str(error) == "got 'a b\ufffd[2Jc\ufffd\ufffd', expected é, 語 and 😀"
    str(error).encode()


def test_long_foreign_values_are_shortened() -> None:
    text = str(ConfigError(f"key: got {'x' * 100_000}, expected less"))
    assert len(text) < 2100
    assert text.startswith("key: got xxx") and text.endswith("xxx, expected less")
    assert " … " in text
