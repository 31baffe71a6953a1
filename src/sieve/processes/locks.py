"""Locks on files and directories, held by one process and freed when it ends, however it ends.

Knows nothing of what they hold.
"""

import os
import sys
import weakref
from pathlib import Path

if sys.platform != "win32":
    import fcntl


class FileLock:
    """Holds `path`, which is created if need be; the content is left alone.

    Raises:
        BlockingIOError: Another process, or another lock of this one, holds it.
        OSError: The file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        descriptor = _locked(path)
        while not _is_at(descriptor, path):  # its holder renamed or removed it meanwhile
            os.close(descriptor)
            descriptor = _locked(path)
        self._release = weakref.finalize(self, os.close, descriptor)

    def release(self) -> None:
        """Lets others have it; does nothing the second time."""
        self._release()


class FolderLock:
    """Holds an existing directory in the same way; its content is anybody's.

    Raises:
        BlockingIOError: Another process, or another lock of this one, holds it.
        OSError: It is not there, or there are no locks here.
    """

    def __init__(self, path: Path) -> None:
        if sys.platform == "win32":
            raise OSError("directories cannot be locked here")
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_at(descriptor, path):
                raise FileNotFoundError(path)
        except OSError:
            os.close(descriptor)
            raise
        self._release = weakref.finalize(self, os.close, descriptor)

    def release(self) -> None:
        """Lets others have it; does nothing the second time."""
        self._release()


def _locked(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise
        except OSError:
            pass  # a file system without locks: better unguarded than unusable
    return descriptor


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
