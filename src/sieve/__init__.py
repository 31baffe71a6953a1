"""Sieve: neural machine translation over the output tokens a sentence may need.

Only names are made available here; nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sieve.engines.options import Sampling, SearchOptions
    from sieve.errors import ConfigError, InputError, ModelError, SieveError
    from sieve.huggingface.translation_pipeline import pipeline
    from sieve.repair.draft import Edit
    from sieve.repair.glossary import Glossary
    from sieve.translate.load import load
    from sieve.translate.translation import Request, Translation
    from sieve.translate.translator import Translator

    __version__: str

__all__ = [
    "ConfigError",
    "Edit",
    "Glossary",
    "InputError",
    "ModelError",
    "Request",
    "Sampling",
    "SearchOptions",
    "SieveError",
    "Translation",
    "Translator",
    "__version__",
    "load",
    "pipeline",
]
_HOMES = {
    "sieve.engines.options": ("Sampling", "SearchOptions"),
    "sieve.errors": ("ConfigError", "InputError", "ModelError", "SieveError"),
    "sieve.repair.draft": ("Edit",),
    "sieve.repair.glossary": ("Glossary",),
    "sieve.translate.load": ("load",),
    "sieve.huggingface.translation_pipeline": ("pipeline",),
    "sieve.translate.translation": ("Request", "Translation"),
    "sieve.translate.translator": ("Translator",),
}


def _version() -> str:
    from importlib import metadata  # here: it takes a tenth of the time to a first translation

    try:
        return metadata.version("sieve-nmt")
    except metadata.PackageNotFoundError:  # run from a source tree that was not installed
        return "0.2.0+source"


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    # by name: a room that imports the package for its version must not pull in an engine
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'sieve' has no attribute '{name}'")
