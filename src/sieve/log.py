"""The one logger, and progress bars. Both write to stderr: stdout belongs to results."""

import logging
import sys
from collections.abc import Iterable
from typing import TypeVar

from tqdm import tqdm

logger: logging.Logger = logging.getLogger("sieve")

T = TypeVar("T")


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
