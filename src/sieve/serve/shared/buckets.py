"""How much each client may still ask for: token buckets of thousands of clients, in fixed memory.

A client's bucket lies in the set that a keyed digest names, the latest first; in a full set the
client that has been idle longest is forgotten. Knows neither keys nor addresses.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

WAYS = 8
"""Clients of a set."""
SETS = 2048
_ROW = np.dtype([("client", np.uint64, 2), ("left", np.float64), ("since", np.float64)])


class Buckets:
    """Each holds a minute's work and refills evenly."""

    BYTES: ClassVar[int] = SETS * WAYS * _ROW.itemsize

    def __init__(
        self, memory: npt.NDArray[np.uint8], key: bytes, lock: AbstractContextManager[Any]
    ) -> None:
        """Takes memory for a number of sets, a secret of the server, and a lock."""
        self._rows = memory.view(_ROW).reshape(-1, WAYS)
        self._key = key
        self._lock = lock

    def take(self, client: str, cost: float, most: int, now: float) -> float:
        """Takes work out of a client's bucket: 0, or what the bucket lacks, and nothing is taken.

        Work of more than a minute is accepted when the bucket is full, and paid back afterwards.

        Args:
            client: Whose bucket.
            cost: Of the request.
            most: That a bucket holds, and gets back in a minute.
            now: In seconds of a clock that all workers share.
        """
        name = client.encode("utf-8", errors="surrogatepass")
        digest = np.frombuffer(blake2b(name, digest_size=16, key=self._key).digest(), np.uint64)
        rows = self._rows[int(digest[0]) % len(self._rows)]
        with self._lock:
            own = np.flatnonzero((rows["client"] == digest).all(axis=1))
            place = int(own[0]) if own.size else WAYS - 1
            left, since = map(float, rows[place][["left", "since"]]) if own.size else (most, now)
            left = min(float(most), left + (now - since) * most / 60)
            missing = max(0.0, min(cost, most) - left)
            rows[1 : place + 1] = rows[:place].copy()
            rows[0] = (digest, left if missing else left - cost, now)
        return missing
