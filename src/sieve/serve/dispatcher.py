"""Shares the work of all clients among a few threads; a free thread takes what is queued.

An order is a list of items from a client. Items of the same kind, whoever sent them, go to a
thread together: the oldest kind first, and never more than the thread's share, so that no other
thread stands idle. Items of a cancelled order are skipped. Knows nothing of translation.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Run = Callable[[list[str]], Sequence[T]]


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What became of an item."""

    value: T
    waited: float
    """Seconds until a thread took it."""
    seconds: float
    """The thread spent on it and on the items it was taken with."""


class Dispatcher:
    """A queue and the threads that empty it."""

    def __init__(self, threads: int, batch_characters: int) -> None:
        """Starts the threads.

        Args:
            threads: Batches that run side by side.
            batch_characters: Most characters in a batch of several items.
        """
        self._batch_characters = batch_characters
        self._queues: dict[Hashable, deque[_Item]] = {}
        self._number = 0
        self._closing = False
        self._ready = threading.Condition()
        self._threads = [
            threading.Thread(target=self._work, name=f"sieve-worker-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def waiting(self) -> int:
        """Items that no thread has taken yet."""
        return sum(len(queue) for queue in list(self._queues.values()))

    def submit(self, kind: Hashable, run: Run[T], items: Sequence[str]) -> Future[list[Outcome[T]]]:
        """Queues the items of an order; cancelling the future drops those not yet begun.

        Args:
            kind: Items of equal kinds can be run together.
            run: What to do with items; the same for all of a kind.
            items: Texts.
        """
        order: _Order = _Order(kind, run, [None] * len(items), len(items))
        if not items:
            order.future.set_result([])
            return order.future
        with self._ready:
            if self._closing:
                raise RuntimeError("the dispatcher is closed")
            queue = self._queues.setdefault(kind, deque())
            now = time.perf_counter()
            for place, text in enumerate(items):
                queue.append(_Item(order, place, text, now, self._number))
                self._number += 1
            self._ready.notify(len(items))
        return order.future

    def close(self) -> None:
        """Ends the threads after everything that was accepted is done."""
        with self._ready:
            self._closing = True
            self._ready.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while batch := self._next():
            trials = [batch]
            while trials:
                trial, begin = trials.pop(), time.perf_counter()
                try:
                    values = trial[0].order.run([item.text for item in trial])
                except BaseException as error:  # belongs to whoever waits for it
                    trials += _apart(trial, error)
                else:
                    _finish(trial, values, begin)

    def _next(self) -> list[_Item]:
        """Waits for work; an empty list when there will be none."""
        with self._ready:
            while True:
                batch = self._taken()
                if batch or self._closing:
                    return batch
                self._ready.wait()

    def _taken(self) -> list[_Item]:
        """The oldest item still wanted, and others of its kind."""
        while self._queues:
            kind = min(self._queues, key=lambda kind: self._queues[kind][0].number)
            queue = self._queues[kind]
            share = -(-len(queue) // len(self._threads))
            room = self._batch_characters
            batch: list[_Item] = []
            while queue and (not batch or (len(batch) < share and len(queue[0].text) <= room)):
                item = queue.popleft()
                if not item.order.future.cancelled():
                    batch.append(item)
                    room -= len(item.text)
            if not queue:
                del self._queues[kind]
            if batch:
                return batch
        return []


@dataclass
class _Order:
    kind: Hashable
    run: Run[Any]
    outcomes: list[Outcome[Any] | None]
    left: int
    future: Future[list[Outcome[Any]]] = field(default_factory=Future)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def finish(self, place: int, outcome: Outcome[Any]) -> None:
        with self.lock:
            self.outcomes[place] = outcome
            self.left -= 1
            done = self.left == 0
        if done:
            self._settle(lambda: self.future.set_result([*filter(None, self.outcomes)]))

    def fail(self, error: BaseException) -> None:
        self._settle(lambda: self.future.set_exception(error))

    def _settle(self, settle: Callable[[], None]) -> None:
        with suppress(InvalidStateError):  # cancelled, or another item failed before
            settle()


@dataclass(frozen=True)
class _Item:
    order: _Order
    place: int
    text: str
    since: float
    number: int


def _finish(batch: list[_Item], values: Sequence[Any], begin: float) -> None:
    seconds = time.perf_counter() - begin
    for item, value in zip(batch, values, strict=True):
        item.order.finish(item.place, Outcome(value, begin - item.since, seconds))


def _apart(batch: list[_Item], error: BaseException) -> list[list[_Item]]:
    """Each item of a batch that failed on its own, so that none suffers from another."""
    if len(batch) == 1:
        batch[0].order.fail(error)
        return []
    return [[item] for item in reversed(batch) if not item.order.future.cancelled()]
