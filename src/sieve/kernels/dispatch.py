"""Modules of Triton kernels, where they can run."""

import functools
import importlib
import os
from types import ModuleType

from torch import Tensor


def load_kernels(name: str, x: Tensor) -> ModuleType | None:
    """The module, where x is on a GPU, Triton is installed and SIEVE_TRITON is not 0."""
    return _load(name) if x.is_cuda and os.environ.get("SIEVE_TRITON") != "0" else None


@functools.cache
def _load(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None
