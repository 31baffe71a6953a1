"""What a run reports: metrics.jsonl, TensorBoard where it is installed, and a progress bar."""

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sieve.log import SILENCE, logger, progress


class Metrics:
    """Appends lines to metrics.jsonl and mirrors their numbers to TensorBoard."""

    def __init__(self, path: Path, keep_bytes: int = 0, next_update: int = 1) -> None:
        """Opens the file and cuts off what a killed session wrote after its last checkpoint."""
        self._file = path.open("ab")
        self._file.truncate(min(keep_bytes, path.stat().st_size))
        self._file.seek(0, os.SEEK_END)
        self._board = _tensorboard(path.parent / "tensorboard", next_update)

    def write(self, kind: str, update: int, values: Mapping[str, Any]) -> None:
        """One line; nested numbers become `a/b` on TensorBoard."""
        line = json.dumps({"kind": kind, "update": update, **values}, ensure_ascii=False)
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        if self._board is not None:
            for name, value in _numbers(kind, values):
                self._board.add_scalar(name, value, update)

    def bytes(self) -> int:
        """Length of the file so far, on disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Closes both."""
        self._file.close()
        if self._board is not None:
            self._board.close()


class ProgressBar:
    """Updates (or seconds) done, with tokens per second; without a terminal, lines now and then."""

    def __init__(
        self,
        total: float,
        unit: str,
        enabled: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._bar: Any = progress(total=round(total), unit=unit, label="train") if enabled else None
        self._of = f"{unit} %.0f of {round(total)}: %s"
        self._clock, self._said = clock, clock()

    def show(self, done: float, tokens_per_second: float, loss: float) -> None:
        """Moves the bar."""
        if self._bar is None:
            return
        state = f"{tokens_per_second:,.0f} tokens/s, loss {loss:.3f}"
        if not self._bar.disable:
            self._bar.set_postfix_str(state, False)
            self._bar.update(done - self._bar.n)
        self._say(done, state)

    def wait(self, done: float, tokens_per_second: float) -> None:
        """Between two logs."""
        if self._bar is not None:
            self._say(done, f"{tokens_per_second:,.0f} tokens/s")

    def _say(self, done: float, state: str) -> None:
        """Writes a line where there is no bar, unless one was written just now."""
        if self._bar.disable and self._clock() - self._said >= SILENCE:
            logger.info(self._of, done, state)
            self._said = self._clock()

    def close(self) -> None:
        """Ends the bar."""
        if self._bar is not None:
            self._bar.close()


def _tensorboard(directory: Path, next_update: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        logger.info("tensorboard is not installed: metrics go to metrics.jsonl alone")
        return None
    return SummaryWriter(str(directory), purge_step=next_update)


def _numbers(prefix: str, values: Mapping[str, Any]) -> list[tuple[str, float]]:
    numbers: list[tuple[str, float]] = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            numbers += _numbers(f"{prefix}/{key}", value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers.append((f"{prefix}/{key}", float(value)))
    return numbers
