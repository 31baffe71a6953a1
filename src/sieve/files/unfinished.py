"""Scratch directories beside what they become, and what killed processes left of them.

Whoever fills one holds its lock: one that nobody holds is removed by the next who wants the name.
"""

import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from sieve.processes.locks import FolderLock

_ADDED = re.compile("[a-z0-9_]{8}")
"""What `tempfile` adds to a name."""


def new_scratch(directory: Path) -> tuple[Path, FolderLock | None]:
    """An empty directory beside another, and its lock; None where directories have none."""
    _remove_left(directory)
    while True:
        scratch = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
        try:
            return scratch, FolderLock(scratch)
        except (BlockingIOError, FileNotFoundError):
            continue  # taken for left over in the moment before the lock
        except OSError:
            return scratch, None


def _remove_left(directory: Path) -> None:
    """Removes the scratch directories of a name that nobody holds."""
    prefix = f".{directory.name}."
    for path in directory.parent.iterdir():
        if not path.name.startswith(prefix) or not _ADDED.fullmatch(path.name[len(prefix) :]):
            continue
        with suppress(OSError):
            lock = FolderLock(path)
            shutil.rmtree(path, ignore_errors=True)
            lock.release()
