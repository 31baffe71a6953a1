"""Memory that nobody uses any more, back to the system. Knows nothing of what was in it."""

import ctypes
import gc
import sys


def return_memory() -> None:
    """Collects what is only known to itself, and has the C library give back what is free."""
    gc.collect()
    if sys.platform == "linux":
        # glibc keeps what threads have freed; other C libraries have no such function
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
