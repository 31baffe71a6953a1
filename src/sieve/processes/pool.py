"""Work for all cores: chunks in, results out in the same order, never more than a few in flight.

A worker is a fresh interpreter that talks over a pipe; it ends by itself when its parent is gone,
however the parent went, and never sees the terminal's Ctrl-C. Knows nothing of text. Run as
`python -m sieve.processes.pool` by the class below only.
"""

import contextlib
import importlib
import os
import queue
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

import sieve
from sieve import errors

Work = Callable[[Any], Any]
Setup = Callable[[Any], Work]
"""Called once in each worker with the settings; gives the function that does the work."""


class Workers:
    """Runs a function over chunks in several processes; with one worker, in this process.

    `setup` must be a function at the top of a module; settings, chunks and results cross a pipe.
    """

    def __init__(self, setup: Setup, settings: Any, count: int) -> None:
        self._setup = setup
        self._settings = settings
        self._count = count
        self._idle: queue.SimpleQueue[_Process] = queue.SimpleQueue()
        self._processes: list[_Process] = []

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            process.stop()

    def map(self, chunks: Iterable[Any]) -> Iterator[Any]:
        """Results in the order of the chunks, which are read only as fast as they are used."""
        if self._count == 1:
            yield from map(self._setup(self._settings), chunks)
            return
        waiting: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(self._count) as threads:
            try:
                for chunk in chunks:
                    self._start_if_needed(len(waiting))
                    waiting.append(threads.submit(self._call, chunk))
                    if len(waiting) > 2 * self._count:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except BaseException:
                # the threads wait for their processes: end these first
                threads.shutdown(wait=False, cancel_futures=True)
                for process in self._processes:
                    process.stop()
                raise

    def _start_if_needed(self, in_flight: int) -> None:
        if len(self._processes) < min(self._count, in_flight + 1):
            process = _Process(self._setup, self._settings)
            self._processes.append(process)
            self._idle.put(process)

    def _call(self, chunk: Any) -> Any:
        process = self._idle.get()
        try:
            return process.call(chunk)
        finally:
            self._idle.put(process)


def run_in_process(setup: Setup, settings: Any, chunk: Any) -> Any:
    """Does one piece of work in a process of its own, so that Ctrl-C can end it at any moment."""
    process = _Process(setup, settings)
    with ThreadPoolExecutor(1) as threads:
        try:
            return threads.submit(process.call, chunk).result()
        finally:
            process.stop()


class _Process:
    """One worker: an interpreter and the two ends of its pipes."""

    def __init__(self, setup: Setup, settings: Any) -> None:
        root = str(Path(sieve.__file__).resolve().parents[1])
        paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sieve.processes.pool"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        # copies, because a Connection closes what it is given
        self._send = Connection(os.dup(self._process.stdin.fileno()), readable=False)
        self._receive = Connection(os.dup(self._process.stdout.fileno()), writable=False)
        self._process.stdin.close()
        self._process.stdout.close()
        self._first: Any = (setup.__module__, setup.__qualname__, settings)

    def call(self, chunk: Any) -> Any:
        try:
            if self._first is not None:
                self._send.send(self._first)
                self._first = None
            self._send.send(chunk)
            kind, value = self._receive.recv()
        except (EOFError, OSError):
            raise errors.InputError(
                "a worker process died; was it killed, or is the memory of this machine used up?"
            ) from None
        if kind == "done":
            return value
        if kind in errors.__dict__:
            raise getattr(errors, kind)(value)
        raise RuntimeError(f"in a worker process:\n{value}")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()  # the connections close when no thread uses them any more


def _serve() -> None:
    """The worker's side: settings first, then chunks until the pipe ends."""
    receive = Connection(os.dup(0), writable=False)
    send = Connection(os.dup(1), readable=False)
    os.dup2(2, 1)  # a stray print must not reach the pipe
    with contextlib.suppress(EOFError, BrokenPipeError):
        module, name, settings = receive.recv()
        work: Work | None = None
        while True:
            chunk = receive.recv()
            try:
                work = work or getattr(importlib.import_module(module), name)(settings)
                answer = ("done", work(chunk))
            except errors.SieveError as error:
                answer = (type(error).__name__, str(error))
            except OSError as error:
                name = error.filename or "temporary files"
                answer = ("InputError", f"{name}: {error.strerror or error}")
            except Exception:
                answer = ("bug", traceback.format_exc())
            send.send(answer)


if __name__ == "__main__":
    _serve()
