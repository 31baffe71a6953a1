"""Starts workers, replaces those that die, and passes on signals; serves no request itself."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import sieve
from sieve.config import to_dict
from sieve.errors import InputError, SieveError
from sieve.log import logger
from sieve.processes.cores import usable_cores
from sieve.serve.access import keys_of
from sieve.serve.models import offers_of
from sieve.serve.run import PARTING_SECONDS, on_hangup
from sieve.serve.settings import Settings
from sieve.serve.shared.board import Board, shared_board, shared_memory
from sieve.serve.workers.channel import Channel, Message
from sieve.serve.workers.stock import Stock, catalogue

SETTLED_SECONDS = 10.0
"""A worker that lived so long did not fail because of how it was started."""
MOST_FAILURES = 6
"""Workers in a row that end sooner; then the server ends."""
PAUSE_SECONDS = 0.25
"""Before another worker takes the place of the first that failed; doubled with each further one."""
SILENT_SECONDS = 60.0
"""Without a sign of life, after which a worker is replaced."""
ORDER_SECONDS = 120.0
"""Within which a worker must have opened new models."""


@dataclass(eq=False)
class _Worker:
    """A process, and the supervisor's ends of its channels."""

    number: int
    process: subprocess.Popen[bytes]
    asks: Channel
    orders: Channel
    since: float
    ready: bool = False


class Supervisor:
    """The parent of all workers of a server."""

    def __init__(
        self,
        names: Sequence[str],
        settings: Settings,
        sock: socket.socket,
        started: Callable[[Sequence[str]], None],
    ) -> None:
        """Opens and copies the models, so that what is wrong with them is known before a start.

        Args:
            names: Of models.
            settings: Workers, limits, keys.
            sock: From `listen`.
            started: Called with the names of the models when all workers are ready.
        """
        threads = settings.threads or max(1, usable_cores() // settings.workers)
        self._names = names
        self._settings = replace(settings, threads=threads)
        self._sock = sock
        self._started: Callable[[Sequence[str]], None] | None = started
        offers = offers_of(names)
        self._stock = Stock(offers, self._keys(), stays=not settings.idle_minutes)
        if not settings.idle_minutes:
            self._stock.seal(offers)
        self._memory = shared_memory(settings.workers)
        self._board: Board = shared_board(self._memory, settings.workers, 0)
        self._workers: dict[int, _Worker] = {}
        self._events: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._failures = 0
        self._stopping = 0.0

    def run(self) -> None:
        """Until a signal ends it, and all requests that were accepted are answered."""
        for ending in (signal.SIGINT, signal.SIGTERM):
            signal.signal(ending, self._signalled)
        on_hangup(lambda: self._events.put(("reload", None)))
        try:
            for number in range(self._settings.workers):
                self._start(number)
            while self._workers or not self._stopping:
                self._look_after()
        finally:
            for worker in self._workers.values():
                worker.process.kill()

    def _look_after(self) -> None:
        """Takes the next event, or looks who has not been heard of."""
        try:
            event, about = self._events.get(timeout=1.0)
        except queue.Empty:
            self._check()
            return
        if event == "stop":
            self._stop()
        elif event == "reload" and not self._stopping:
            self._reload()
        elif event == "ended":
            self._replace(about)
        elif event == "start" and not self._stopping:
            self._start(about)
        elif event == "ready":
            self._welcome(about)

    def _start(self, number: int) -> None:
        asks, their_asks = socket.socketpair()
        orders, their_orders = socket.socketpair()
        passed = [each.fileno() for each in (their_asks, their_orders, self._sock)]
        passed.append(self._memory)
        root = str(Path(sieve.__file__).resolve().parents[1])
        paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        flags = [f"-W{option}" for option in sys.warnoptions]
        process = subprocess.Popen(
            [sys.executable, *flags, "-m", "sieve.serve.workers.worker", *map(str, passed)],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            pass_fds=passed,
            start_new_session=True,  # Ctrl-C is the supervisor's
        )
        their_asks.close()
        their_orders.close()
        worker = _Worker(number, process, Channel(asks), Channel(orders), time.monotonic())
        self._workers[number] = worker
        for target in (self._answer, self._wait):
            threading.Thread(target=target, args=(worker,), daemon=True).start()

    def _answer(self, worker: _Worker) -> None:
        """A thread for each worker: answers what it asks."""
        hello = {"number": worker.number, "settings": to_dict(self._settings)}
        try:
            worker.asks.send(Message({**hello, **catalogue(self._stock.offers, self._stock.keys)}))
            while True:
                asked = worker.asks.receive()
                if asked.fields == {"ask": "ready"}:
                    self._events.put(("ready", worker))
                    answer = Message({})
                else:
                    answer = self._stock.answer(worker.process.pid, asked)
                worker.asks.send(answer)
        except (OSError, EOFError, json.JSONDecodeError):
            return

    def _wait(self, worker: _Worker) -> None:
        """A thread for each worker: notices its end."""
        worker.process.wait()
        self._events.put(("ended", worker))

    def _welcome(self, worker: _Worker) -> None:
        worker.ready = True
        if self._started and all(each.ready for each in self._workers.values()):
            self._started([offer.name for offer in self._stock.offers])
            self._started = None

    def _replace(self, worker: _Worker) -> None:
        """A worker has ended: forgets it, and starts another one unless that is hopeless."""
        del self._workers[worker.number]
        worker.asks.close()
        worker.orders.close()
        self._board.clear(worker.number)
        self._stock.left(worker.process.pid)
        if self._stopping:
            return
        status = worker.process.returncode
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        if self._started and status > 0 and not worker.ready:
            raise InputError(f"worker {worker.number} could not start: it {how}")
        settled = worker.ready and time.monotonic() - worker.since > SETTLED_SECONDS
        self._failures = 0 if settled else self._failures + 1
        if self._failures >= MOST_FAILURES * self._settings.workers:
            raise InputError(f"{self._failures} workers in a row ended as soon as they had started")
        failures = self._failures // self._settings.workers
        pause = PAUSE_SECONDS * 2**failures if failures else 0.0
        logger.warning(
            "worker %d (process %d) %s; another one takes its place",
            worker.number, worker.process.pid, how,
        )  # fmt: skip
        timer = threading.Timer(pause, self._events.put, [("start", worker.number)])
        timer.daemon = True
        timer.start()

    def _check(self) -> None:
        """Kills workers that stand still, and when it is time to end, those that still work."""
        limits = self._settings.limits
        longest = max(limits.seconds, limits.file_seconds) + 2 * PARTING_SECONDS
        late = self._stopping and time.monotonic() > self._stopping + longest
        for worker in self._workers.values():
            if late or self._board.silent(worker.number) > SILENT_SECONDS:
                logger.error("worker %d (process %d) stands still: it is killed",
                             worker.number, worker.process.pid)  # fmt: skip
                worker.process.kill()

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self._events.put(("stop", None))

    def _stop(self) -> None:
        """Lets workers finish; asked again, ends them at once."""
        repeated, self._stopping = bool(self._stopping), self._stopping or time.monotonic()
        self._sock.close()
        for worker in self._workers.values():
            worker.process.send_signal(signal.SIGKILL if repeated else signal.SIGTERM)

    def _reload(self) -> None:
        """All workers take new models and keys, or none does."""
        try:
            offers, keys = offers_of(self._names), self._keys()
            if not self._settings.idle_minutes:
                self._stock.seal(offers)
            self._order({"order": "prepare", **catalogue(offers, keys)})
        except (SieveError, OSError) as error:
            logger.error("not reloaded, everything stays as it was: %s", error)
            self._order({"order": "abort"})
            self._stock.tidy()
            return
        self._stock.take(offers, keys)
        self._order({"order": "commit"})
        self._stock.tidy()
        logger.info("reloaded: %s", ", ".join(offer.name for offer in offers))

    def _order(self, fields: dict[str, Any]) -> None:
        """Orders something of every worker; one that dies meanwhile asks anew when it starts."""
        for worker in [*self._workers.values()]:
            try:
                worker.orders.ask(Message(fields), ORDER_SECONDS)
            except (OSError, EOFError):
                logger.warning("worker %d did not answer", worker.number)
                worker.process.kill()

    def _keys(self) -> frozenset[bytes]:
        return keys_of(self._settings.api_keys)
