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


class SieveError(Exception):
    """Base of all errors with a message for the user."""


class InputError(SieveError):
    """Text, files or arguments that the user gave are unusable."""


class ConfigError(SieveError):
    """An unknown key, a value out of range, or settings that contradict each other."""


class ModelError(SieveError):
    """A model directory is damaged, incomplete or of another kind."""


class MissingExtraError(SieveError):
    """An optional dependency is not installed."""


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
