"""The search's Triton kernels, where they can run."""

from __future__ import annotations

import functools
import importlib
import os
from dataclasses import dataclass
from types import ModuleType

from torch import Tensor


@dataclass(frozen=True)
class Kernels:
    """Modules of kernels."""

    beams: ModuleType
    words: ModuleType
    trace: ModuleType


def kernels_for(x: Tensor) -> Kernels | None:
    """The kernels, where x is on a GPU, Triton is installed and SIEVE_TRITON is not 0."""
    return _load() if x.is_cuda and os.environ.get("SIEVE_TRITON") != "0" else None


@functools.cache
def _load() -> Kernels | None:
    names = ("beams_triton", "output_words_triton", "trace_triton")
    try:
        return Kernels(*(importlib.import_module(f"sieve.kernels.{name}") for name in names))
    except ModuleNotFoundError:
        return None
