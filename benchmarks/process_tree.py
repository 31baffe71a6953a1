"""Seconds of the processors that a command takes with all that it starts, as Ray's daemons."""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

PR_SET_CHILD_SUBREAPER = 36
EVERY = 0.2
"""Seconds between two looks: what a process does after the last one is not counted."""


class TreeClock:
    """Looks at all descendants now and then; one that has ended counts as last seen."""

    def __init__(self) -> None:
        self._taken: dict[tuple[int, float], float] = {}
        self.look()
        self._before = sum(self._taken.values())

    @property
    def seconds(self) -> float:
        """From the first look to the last."""
        return sum(self._taken.values()) - self._before

    def look(self) -> None:
        """Notes what each process has taken so far."""
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                times = process.cpu_times()
                key = process.pid, process.create_time()
                self._taken[key] = max(self._taken.get(key, 0.0), times.user + times.system)


@contextmanager
def tree_clock() -> Iterator[TreeClock]:
    """Counts while the block lasts; this process becomes the parent of what children leave."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    clock, ended = TreeClock(), threading.Event()

    def watch() -> None:
        while not ended.wait(EVERY):
            clock.look()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield clock
    finally:
        ended.set()
        thread.join()
