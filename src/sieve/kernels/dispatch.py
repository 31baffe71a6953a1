"""Which Triton kernels can run: the one place that asks for a GPU and for Triton."""

import functools
import importlib
import os
from dataclasses import dataclass
from types import ModuleType

from torch import Tensor


@dataclass(frozen=True)
class SearchKernels:
    """Modules of kernels that a search needs together."""

    beams: ModuleType
    words: ModuleType
    trace: ModuleType


def kernels_for(name: str, x: Tensor) -> ModuleType | None:
    """Module `name`_triton, where x is on a GPU, Triton is installed and SIEVE_TRITON is not 0."""
    return load(name) if x.is_cuda and os.environ.get("SIEVE_TRITON") != "0" else None


@functools.cache
def load(name: str) -> ModuleType | None:
    """Module `name`_triton, or None where Triton is not installed."""
    try:
        return importlib.import_module(f"sieve.kernels.{name}_triton")
    except ModuleNotFoundError:
        return None


def search_kernels(x: Tensor) -> SearchKernels | None:
    """The search's kernels, where they can run on x."""
    beams, words, trace = (kernels_for(name, x) for name in ("beams", "output_tokens", "trace"))
    if beams is None or words is None or trace is None:
        return None
    return SearchKernels(beams, words, trace)
