"""The memory that all workers of a server see, and what each is doing right now.

A worker has a number, and a part of the memory that nobody else writes to while it lives. A dead
worker's part is cleared by whoever starts the next one; what it has counted (`Counts`) stays.
"""

from __future__ import annotations

import mmap
import os
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import blake2b
from typing import Any

import numpy as np

from sieve.serve.shared.buckets import Buckets
from sieve.serve.shared.counts import Counts

if sys.platform != "win32":
    import fcntl

MOST_CONNECTIONS = 800
"""Open at a time, of all workers."""
BEAT_SECONDS = 1.0
"""Between two signs of life of a worker."""
_MISSED = 3
"""Signs of life after which nobody counts on a worker any more."""
_LIVE = ("pid", "beat", "accepted", "documents", "waiting", "models")
"""What a worker is doing: numbers that are 0 while it is not there."""
_KEY = 64
_COUNTS = 2**20


class Board:
    """What a worker sees of all of them."""

    def __init__(
        self, memory: Any, workers: int, number: int, lock: AbstractContextManager[Any]
    ) -> None:
        """Takes memory of `board_bytes`.

        Args:
            memory: Zeros and a key, or what another process's board has made of them.
            workers: That share it.
            number: Of this one, from 0 on.
            lock: Held by one process at a time.
        """
        parts = np.split(np.frombuffer(memory, np.uint8), np.cumsum(_sizes(workers)))
        self.workers = workers
        self.number = number
        self.counts: list[Counts] = [
            Counts(part) for part in parts[4].reshape(workers, _COUNTS)
        ]  # fmt: skip
        """Of all workers."""
        self.buckets: Buckets = Buckets(parts[3], parts[0].tobytes(), lock)
        # the same memory twice: single numbers are quicker to reach without numpy
        self._numbers: memoryview = parts[1].view(np.float64).data
        self._live = parts[1].view(np.float64).reshape(workers, len(_LIVE))
        self._origins = parts[2].view(np.uint64).reshape(workers, MOST_CONNECTIONS)
        self._key = parts[0].tobytes()
        self._lock = lock

    @classmethod
    def alone(cls) -> Board:
        """That of a server which is one process."""
        memory = bytearray(sum(_sizes(1)))
        memory[:_KEY] = secrets.token_bytes(_KEY)
        return cls(memory, 1, 0, nullcontext())

    def clear(self, number: int) -> None:
        """Forgets what a worker was doing: it is dead."""
        self._live[number] = 0
        self._origins[number] = 0

    def beat(self, **now: float) -> None:
        """Says that this worker lives, and what else it is doing."""
        self._live[self.number, _LIVE.index("pid")] = os.getpid()
        self._live[self.number, _LIVE.index("beat")] = time.monotonic()
        for name, value in now.items():
            self._live[self.number, _LIVE.index(name)] = value

    def silent(self, number: int) -> float:
        """Seconds since a worker's last sign of life; 0 where it has given none yet."""
        beat = self._live[number, _LIVE.index("beat")]
        return float(time.monotonic() - beat) if beat else 0.0

    def total(self, name: str) -> float:
        """A number of all workers together."""
        return float(self._live[:, _LIVE.index(name)].sum())

    @property
    def pids(self) -> dict[int, int]:
        """Process ids of those that live, by number."""
        pids = self._live[:, _LIVE.index("pid")]
        return {int(number): int(pids[number]) for number in np.flatnonzero(pids)}

    @contextmanager
    def place(self, name: str, most: int) -> Iterator[bool]:
        """Counts this worker's `name` one up for a block, unless all have `most` already."""
        column = self._numbers[_LIVE.index(name) :: len(_LIVE)]
        with self._lock:
            free = sum(column) < most
            column[self.number] += free
        try:
            yield free
        finally:
            column[self.number] -= free

    def connect(self, origin: str, most: int) -> int | None:
        """A place for a connection; None where its origin, or all together, have too many.

        Args:
            origin: Where it comes from; empty for one that has no limit of its own.
            most: Open at a time from one origin.
        """
        digest = self._digest(origin)
        with self._lock:
            taken = np.count_nonzero(self._origins)
            same = np.count_nonzero(self._origins == digest) if origin else 0
            if taken >= MOST_CONNECTIONS or same >= most:
                return None
            place = int(np.argmin(self._origins[self.number]))  # 0: free
            self._origins[self.number, place] = digest
        return place

    def disconnect(self, place: int) -> None:
        """Frees a connection's place."""
        self._origins[self.number, place] = 0

    def busier(self, by: int) -> bool:
        """Whether this worker has more connections than the least busy one, by so many."""
        if self.workers == 1:
            return False
        counts = np.count_nonzero(self._origins, axis=1)
        beats = self._live[:, _LIVE.index("beat")]
        alive = beats > time.monotonic() - _MISSED * BEAT_SECONDS
        return bool(counts[alive].min(initial=counts[self.number]) + by <= counts[self.number])

    def _digest(self, origin: str) -> int:
        key = self._key
        return int.from_bytes(blake2b(origin.encode(), digest_size=8, key=key).digest(), "big") or 1


def shared_memory(workers: int) -> int:
    """The descriptor of new memory for a board."""
    descriptor = os.memfd_create("sieve-board", os.MFD_CLOEXEC)
    os.ftruncate(descriptor, sum(_sizes(workers)))
    os.pwrite(descriptor, secrets.token_bytes(_KEY), 0)
    return descriptor


def shared_board(descriptor: int, workers: int, number: int) -> Board:
    """A worker's board in shared memory."""
    return Board(mmap.mmap(descriptor, 0), workers, number, _FileLock(descriptor))


class _FileLock(AbstractContextManager[None]):
    """A lock of processes, not of threads; the system frees it when its holder dies."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> None:
        fcntl.lockf(self._descriptor, fcntl.LOCK_EX)

    def __exit__(self, *error: object) -> None:
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN)


def _sizes(workers: int) -> list[int]:
    """Bytes of the key, live numbers, origins of connections, rates and counts."""
    live, origins = 8 * len(_LIVE) * workers, 8 * MOST_CONNECTIONS * workers
    return [_KEY, live, origins, Buckets.BYTES, _COUNTS * workers]
