"""Scratch space inside a directory in the making, and what killed runs left of it.

A run holds a lock inside its hidden directory as long as it lives; a directory whose lock is free
belongs to nobody. Knows nothing of what is written there.
"""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sieve.log import logger

if sys.platform != "win32":
    import fcntl

_SCRATCH = "scratch"
_LOCK = "lock"


@contextmanager
def claim(directory: Path) -> Iterator[Path]:
    """A scratch directory inside `directory`, locked while in use, gone afterwards."""
    scratch = directory / _SCRATCH
    scratch.mkdir()
    with (scratch / _LOCK).open("wb") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def remove_stale(directory: Path) -> None:
    """Removes what earlier runs for the same directory left when they were killed."""
    if sys.platform == "win32" or not directory.parent.is_dir():
        return
    for partial in directory.parent.glob(f".{directory.name}.*"):
        lock = partial / _SCRATCH / _LOCK
        try:
            with lock.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # in use, or not ours
            continue
        logger.info("removing %s, left by a run that was killed", partial)
        shutil.rmtree(partial, ignore_errors=True)
