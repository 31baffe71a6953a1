"""The verbs of `sieve` as steps, worker processes, and the slot of time that a build has."""

import contextlib
import io
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sieve.errors import InputError, SieveError
from sieve.files import whole_file

T = TypeVar("T")
R = TypeVar("R")
Verb = Callable[..., None]
SLOT_OVER = 143
"""Exit code of a build whose slot is over, as of a command that `timeout` ended."""


class SlotOverError(SieveError):
    """The slot is over and the build is not."""


class Verbs:
    """Runs `sieve VERB …` in a process of its own, which ends with this one and with the slot."""

    def __init__(self, slot: float = 0.0) -> None:
        self._end = time.monotonic() + slot if slot else 0.0

    def __call__(self, *words: object) -> None:
        """Runs a verb; what it refuses ends the stage."""
        command = [sys.executable, "-m", "sieve.cli", *map(str, words)]
        process = subprocess.Popen(command)
        try:
            code = process.wait(self._left())
        except KeyboardInterrupt:  # it got the same signal and writes its checkpoint
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(60)
            raise
        except subprocess.TimeoutExpired:
            raise SlotOverError("the slot is over, the build is not: rerun to resume") from None
        finally:
            _end(process)
        if code:
            raise InputError(f"sieve {words[0]} ended with status {code}; see what it printed")

    def _left(self) -> float | None:
        return max(0.0, self._end - time.monotonic()) if self._end else None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Lets a process that still runs write its checkpoint."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass(frozen=True)
class Tools:
    """What stages work with."""

    sieve: Verb
    jobs: int


def prepare(*words: object) -> None:
    """`sieve prepare` in this process, silent; for workers, which have nobody to talk to."""
    from sieve.cli.main import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(["prepare", *map(str, words)])
    if code:
        raise InputError(said.getvalue().strip().split("\n")[-1])


@contextlib.contextmanager
def processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Workers that start fresh: torch does not survive a fork."""
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def each(function: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[R]:
    """The function of each item, in order, in several processes if there is more than one."""
    items = list(items)
    if jobs == 1 or len(items) < 2:
        yield from map(function, items)
        return
    with processes(min(jobs, len(items))) as pool:
        yield from pool.map(function, items)


def read_text_lines(path: Path) -> list[str]:
    """All lines of a file of a build."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """The whole file or nothing."""
    with whole_file(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
