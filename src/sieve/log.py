"""The one logger, and progress bars. Both write to stderr: stdout belongs to results."""

import logging
import sys
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from tqdm import tqdm

logger: logging.Logger = logging.getLogger("sieve")

T = TypeVar("T")
SILENCE = 15.0
"""Seconds after which long work says how far it is where no bar does."""


class _TqdmHandler(logging.Handler):
    """Writes log lines above a running progress bar instead of through it."""

    def emit(self, record: logging.LogRecord) -> None:
        tqdm.write(self.format(record), file=sys.stderr)


def configure(verbose: bool = False) -> None:
    """Sends log lines to stderr; called once by the command line."""
    handler = _TqdmHandler()
    handler.setFormatter(logging.Formatter("%(levelname).1s %(asctime)s %(message)s", "%H:%M:%S"))
    logger.handlers = [handler]
    logger.setLevel(logging.DEBUG if verbose else logging.INFO)


def renamed(old: str, new: str) -> None:
    """Says that an old name is on its way out (docs/versions.md)."""
    logger.warning("%s is the old name of %s and goes with version 0.4", old, new)


def progress(
    iterable: Iterable[T] = (), *, total: int | None = None, unit: str, label: str
) -> "tqdm[T]":
    """A progress bar on stderr; silent when stderr is not a terminal."""
    bar: tqdm[T] = tqdm(
        iterable,
        total=total,
        unit=unit,
        desc=label,
        file=sys.stderr,
        disable=None,
        unit_scale=True,
        dynamic_ncols=True,
        mininterval=0.5,
    )
    return bar


class Estimate:
    """How far long work is and when it ends: a bar, or without a terminal a line now and then."""

    def __init__(
        self, total: int, unit: str, done: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Starts the clock.

        Args:
            total: All there is to do.
            unit: Of what, in the plural.
            done: By an earlier run.
            clock: Seconds.
        """
        self._bar: tqdm[int] = progress(total=total, unit=f" {unit}", label=unit)
        self._bar.update(done)
        self._total, self._unit, self._done, self._before = total, unit, done, done
        self._clock, self._start = clock, clock()
        self._said = self._start

    def add(self, count: int) -> None:
        """Says that more is done."""
        self._done += count
        self._bar.update(count)
        now = self._clock()
        if self._bar.disable and now - self._said >= SILENCE:
            self._said = now
            logger.info("%s", self)

    def __str__(self) -> str:
        seconds = self._clock() - self._start
        speed = (self._done - self._before) / seconds if seconds > 0 else 0.0
        text = f"{self._done:,} of {self._total:,} {self._unit}, {speed:,.0f} per second"
        if not speed:
            return text
        left = (self._total - self._done) / speed
        end = time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() + left))
        return f"{text}, done in {left / 60:,.0f} min ({end})"

    def close(self) -> None:
        """Ends the bar."""
        self._bar.close()
