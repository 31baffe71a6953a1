"""The training loop: updates until the budget is spent, checkpoints on the way.

Log lines are the only points where the host waits for the device. Knows neither how an update is
computed nor how files are laid out.
"""

import math
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from sieve.errors import SieveError
from sieve.log import logger
from sieve.train.distributed import Processes
from sieve.train.metrics import Metrics, ProgressBar
from sieve.train.state import Progress
from sieve.train.update.loader import Position, Update
from sieve.train.update.schedule import rescaled
from sieve.train.update.trainer import LOSSES, Trainer
from sieve.train.validate import Validation

_WARM_UP_UPDATES = 4  # of different lengths


class DivergedError(SieveError):
    """The loss is not a number any more."""


@dataclass(frozen=True)
class Hooks:
    """What the loop asks of its surroundings; only the first process does anything in them."""

    validate: Callable[[], Validation | None]
    checkpoint: Callable[[Progress, Validation | None], None]
    """Writes the state, and the model if the validation puts it among the best."""


@dataclass
class _Interval:
    """What happened since the last log line."""

    started: float
    update: int
    tokens: int


def run(trainer: Trainer, hooks: Hooks, processes: Processes, metrics: Metrics | None) -> int:
    """Trains until the budget is spent or a signal asks to stop; returns the signal or 0."""
    return _Run(trainer, hooks, processes, metrics).go()


class _Run:
    """One session of a run."""

    def __init__(
        self, trainer: Trainer, hooks: Hooks, processes: Processes, metrics: Metrics | None
    ) -> None:
        self.trainer, self.hooks, self.processes, self.metrics = trainer, hooks, processes, metrics
        self.config, self.progress = trainer.config, trainer.progress
        self.before = self.progress.seconds  # of earlier sessions
        minutes = self.config.max_minutes and not self.config.max_updates
        total = self.config.max_minutes * 60 if minutes else self.config.max_updates
        self.bar = ProgressBar(total, "s" if minutes else "update", metrics is not None)
        self.saved = self.progress.update
        self.started = time.monotonic()
        self.interval = _Interval(self.started, self.progress.update, self.progress.tokens)

    def go(self) -> int:
        trainer, progress = self.trainer, self.progress
        share = self._share(progress.seconds)
        if share >= 1.0:
            self._finish()
            return 0
        warm = progress.update > trainer.schedule.warm_steps
        if warm and 0.0 < progress.spent < 1.0 and progress.spent != share:
            progress.warm_progress = rescaled(progress.warm_progress, progress.spent, share)
        if self.config.parts == "head":
            trainer.model.eval()
        else:
            trainer.model.train()
        updates = trainer.loader.updates(Position(progress.epoch, progress.epoch_update))
        first = [next(updates) for _ in range(_WARM_UP_UPDATES)]
        self._warm_up(first)
        self.started = time.monotonic()
        self.interval = replace(self.interval, started=self.started)
        with _signals() as received:
            stopped = self._steps(chain(first, updates), received)
        updates.close()  # type: ignore[attr-defined]
        if stopped:
            if self.saved != progress.update:
                self._checkpoint(validate=False)
        else:
            self._finish()
        self.bar.close()
        return stopped

    def _steps(self, updates: Iterator[Update], received: list[int]) -> int:
        trainer, config, progress = self.trainer, self.config, self.progress
        for update in updates:
            share = self._share(self.processes.decide([self._seconds()])[0])
            stop = int(self.processes.largest(received[0] if received else 0))
            if stop:
                return stop
            if share >= 1.0:
                return 0
            if progress.update <= trainer.schedule.warm_steps:
                progress.warm_progress = share
            rate = trainer.schedule.rate(progress.update + 1, share, progress.warm_progress)
            trainer.step(update, rate, self.processes)
            if progress.update % config.log_every == 0:
                self._log(rate)
            self.bar.wait(self._done(), self._speed())
            if progress.update % config.validate_every == 0:
                self._checkpoint(validate=True)
            elif progress.update % config.checkpoint_every == 0:
                self._checkpoint(validate=False)
        raise AssertionError("the loader is endless")

    def _done(self) -> float:
        """What the progress bar counts."""
        return self.progress.update if self.config.max_updates else self._seconds()

    def _speed(self) -> float:
        """Tokens per second since the last log."""
        seconds = time.monotonic() - self.interval.started
        return (self.progress.tokens - self.interval.tokens) / max(seconds, 1e-9)

    def _seconds(self) -> float:
        return self.before + time.monotonic() - self.started

    def _share(self, seconds: float) -> float:
        """How much of the budget is spent, 0 to 1."""
        shares = [0.0]
        if self.config.max_updates:
            shares.append(self.progress.update / self.config.max_updates)
        if self.config.max_minutes:
            shares.append(seconds / (60 * self.config.max_minutes))
        return max(shares)

    def _warm_up(self, first: Sequence[Update]) -> None:
        if self.trainer.device.type != "cuda":
            return
        seconds = self.trainer.warm_up(first)
        logger.info("compilation and warm-up: %.1f s (not counted as training)", seconds)
        if self.metrics is not None:
            self.metrics.write("warm_up", self.progress.update, {"seconds": round(seconds, 2)})

    def _log(self, rate: float | None = None) -> None:
        progress, interval = self.progress, self.interval
        updates = progress.update - interval.update
        if not updates:
            return
        values: dict[str, Any] = self.trainer.read_losses(updates, self.processes)
        now = time.monotonic()
        progress.seconds = self.before + now - self.started
        # an overflow of scaled float16 gradients is no loss: that step is skipped
        watched = LOSSES if self.config.precision == "float16" else tuple(values)
        if not all(math.isfinite(values[name]) for name in watched):
            raise DivergedError(
                f"the loss is not finite after update {progress.update}: lower "
                "training.learning_rate, or use precision bfloat16 or float32"
            )
        speed = (progress.tokens - interval.tokens) / max(now - interval.started, 1e-9)
        values |= {"tokens": progress.tokens, "epoch": progress.epoch}
        values |= {"seconds": round(progress.seconds, 3), "tokens_per_second": round(speed)}
        if rate is not None:
            values["learning_rate"] = rate
        if self.metrics is not None:
            self.metrics.write("train", progress.update, values)
        self.bar.show(self._done(), speed, values["loss"] + values["nvs_loss"])
        self.interval = _Interval(now, progress.update, progress.tokens)

    def _checkpoint(self, validate: bool) -> None:
        """Validates and writes; the time it takes does not count as the next interval's."""
        self._log()
        validation = self.hooks.validate() if validate else None
        progress = self.progress
        if validate:  # in every process, also in those that leave the measuring to the first
            progress.validated = progress.update
        if validation is not None:
            logger.info("update %d: %s", progress.update, validation)
            if self.metrics is not None:
                self.metrics.write("validation", progress.update, validation.plain())
        if self.metrics is not None:
            progress.metrics_bytes = self.metrics.bytes()
        progress.seconds = self._seconds()
        progress.spent = self._share(progress.seconds)
        self.hooks.checkpoint(progress, validation)
        self.saved = progress.update
        self.interval = replace(self.interval, started=time.monotonic())

    def _finish(self) -> None:
        if self.saved != self.progress.update:
            self._checkpoint(validate=False)  # whoever stops the validation loses nothing
        if self.progress.validated != self.progress.update:
            self._checkpoint(validate=True)


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Notes the first SIGINT or SIGTERM instead of dying; a second one works as usual."""
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, frame: object) -> None:
        received.append(number)
        logger.info("stopping after this update; once more stops at once")
        for each, handler in before.items():
            signal.signal(each, handler)

    for number in before:
        signal.signal(number, note)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
