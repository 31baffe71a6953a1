"""Everything Sieve raises on purpose.

SieveError                 base: its text is one line a user can act on
├── InputError             text, files or arguments that the user gave are unusable
├── ConfigError            an unknown key, a value out of range, settings that contradict
├── ModelError             a model directory is damaged, incomplete or of another kind
└── MissingExtraError      an optional dependency is not installed

The command line prints the text and exits with 2; anything else is a bug and shows a traceback.
"""

import importlib
from types import ModuleType

LONGEST = 2000
"""Characters of a message; of a longer one the middle is left out."""


class SieveError(Exception):
    """Base of all errors with a message for the user: one line that any terminal can show."""

    def __init__(self, message: str = "") -> None:
        super().__init__(_presentable(message))


class InputError(SieveError):
    """Text, files or arguments that the user gave are unusable."""


class ConfigError(SieveError):
    """An unknown key, a value out of range, or settings that contradict each other."""


class ModelError(SieveError):
    """A model directory is damaged, incomplete or of another kind."""


class MissingExtraError(SieveError):
    """An optional dependency is not installed."""


def _presentable(message: str) -> str:
    """What a message quotes may be of any length and hold anything, escape codes included."""
    if len(message) > LONGEST:
        half = LONGEST // 2
        message = f"{message[:half]} … {message[-half:]}"
    if message.isprintable():
        return message
    return "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in message)


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Imports an optional module, or says in one sentence how to install it.

    Args:
        module: Dotted name of the module, for example `torch`.
        extra: The extra of `sieve-nmt` that brings it.
        purpose: What it is needed for, as the subject of the sentence ("training").
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise MissingExtraError(
            f"{purpose} needs {module.split('.')[0]}, which is not installed: "
            f"pip install 'sieve-nmt[{extra}]'"
        ) from None
