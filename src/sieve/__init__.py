"""Sieve: neural machine translation over the output words a sentence can need.

Only names are made available here; nothing heavy is imported before it is used.
"""

from importlib import metadata as _metadata


def _version() -> str:
    try:
        return _metadata.version("sieve-nmt")
    except _metadata.PackageNotFoundError:  # run from a source tree that was not installed
        return "0.1.0+source"


__version__ = _version()
__all__ = ["__version__"]
