"""Scratch space inside a directory in the making, and what killed runs left of it.

A run holds a lock inside its hidden directory as long as it lives; a directory whose lock is free
belongs to nobody. Knows nothing of what is written there.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sieve.log import logger
from sieve.processes.locks import FileLock

_SCRATCH = "scratch"
_LOCK = "lock"


@contextmanager
def claim(directory: Path) -> Iterator[Path]:
    """A scratch directory inside `directory`, locked while in use, gone afterwards."""
    scratch = directory / _SCRATCH
    scratch.mkdir()
    lock = FileLock(scratch / _LOCK)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        lock.release()


def remove_stale(directory: Path) -> None:
    """Removes what earlier runs for the same directory left when they were killed."""
    if not directory.parent.is_dir():
        return
    for partial in directory.parent.glob(f".{directory.name}.*"):
        path = partial / _SCRATCH / _LOCK
        if not path.is_file():  # not ours
            continue
        try:
            lock = FileLock(path)
        except OSError:  # in use
            continue
        logger.info("removing %s, left by a run that was killed", partial)
        shutil.rmtree(partial, ignore_errors=True)
        lock.release()
