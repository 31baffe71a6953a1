"""Sieve: neural machine translation over the output words a sentence can need.

Only names are made available here; nothing heavy is imported before it is used.
"""

from importlib import import_module
from importlib import metadata as _metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sieve.translate.load import load


def _version() -> str:
    try:
        return _metadata.version("sieve-nmt")
    except _metadata.PackageNotFoundError:  # run from a source tree that was not installed
        return "0.1.0+source"


__version__ = _version()
__all__ = ["__version__", "load"]


def __getattr__(name: str) -> Any:
    if name == "load":
        # by name: a room that imports the package for its version must not pull in an engine
        return import_module("sieve.translate.load").load
    raise AttributeError(f"module 'sieve' has no attribute '{name}'")
