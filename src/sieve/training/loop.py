"""The training loop: updates until the budget is spent, checkpoints on the way.

One optimizer step sums the gradients of its units, here and in the other processes; losses are
divided by the update's global counts, which the plan knows. The host never waits for the device
between two log lines. Knows neither files' layout nor how batches are made.
"""

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from sieve.errors import SieveError
from sieve.log import logger
from sieve.model.translation import TranslationModel
from sieve.training.config import TrainingConfig
from sieve.training.distributed import Processes
from sieve.training.loader import Loader, Position, Unit, Update
from sieve.training.loss import (
    PositiveWeight,
    guided_alignment_loss,
    label_smoothed_cross_entropy,
    nvs_loss,
)
from sieve.training.metrics import Metrics, ProgressBar
from sieve.training.optimizer import Optimizer
from sieve.training.schedule import Schedule
from sieve.training.state import Progress
from sieve.training.validate import DTYPES, Validation

LOSSES = ("loss", "nvs_loss", "alignment_loss")


class DivergedError(SieveError):
    """The loss is not a number any more."""


@dataclass(frozen=True)
class Hooks:
    """What the loop asks of its surroundings; only the first process does anything in them."""

    validate: Callable[[], Validation | None]
    checkpoint: Callable[[Progress, Validation | None], None]
    """Writes the state, and the model if the validation puts it among the best."""


class Trainer:
    """Moves a model from one position in the data to the next."""

    def __init__(
        self, model: TranslationModel, config: TrainingConfig, loader: Loader, schedule: Schedule
    ) -> None:
        self.model = model
        self.config = config
        self.loader = loader
        self.schedule = schedule
        self.device = next(model.parameters()).device
        self.optimizer = Optimizer(model, config)
        self.positive_weight = PositiveWeight.parse(config.positive_weight)
        self.progress = Progress()
        self._sums = torch.zeros(len(LOSSES), dtype=torch.float64, device=self.device)
        self._norms: list[Tensor] = []

    def warm_up(self, update: Update) -> float:
        """Forward and backward without a step, so that compilation comes before the clock.

        Returns the seconds it took. Weights and moments stay as they are.
        """
        started = time.monotonic()
        for _ in range(2):
            for seed, unit in update.units(self.device):
                self._backward(unit, seed, update)
        self.optimizer.clear()
        self._sums.zero_()
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.monotonic() - started

    def step(self, update: Update, rate: float, processes: Processes) -> None:
        """One optimizer step."""
        for seed, unit in update.units(self.device):
            self._backward(unit, seed, update)
        processes.sum_gradients(self.optimizer.parameters)
        self._norms = self.optimizer.step(rate)
        self.progress.update += 1
        self.progress.epoch = update.following.epoch
        self.progress.epoch_update = update.following.update
        self.progress.tokens += update.num_tokens

    def read_losses(self, updates: int, processes: Processes) -> dict[str, float]:
        """Mean losses since the last call; waits for the device."""
        sums = processes.sum_tensor(self._sums) / max(1, updates)
        values = dict(zip(LOSSES, sums.tolist(), strict=True))
        self._sums.zero_()
        names = ["gradient_norm", "nvs_gradient_norm"][self.config.parts == "head" :]
        values |= {k: float(norm) for k, norm in zip(names, self._norms, strict=False)}
        return values

    def _backward(self, unit: Unit, seed: int, update: Update) -> None:
        """Adds one unit's gradients; its dropout depends on its place in the plan alone."""
        torch.manual_seed(seed)
        dtype = DTYPES[self.config.precision]
        with torch.autocast(self.device.type, dtype=dtype, enabled=dtype is not None):
            head = self.config.parts == "head"
            losses = self._head_losses(unit, update) if head else self._losses(unit, update)
        total = losses.sum()
        self.optimizer.scale(total).backward()  # type: ignore[no-untyped-call]
        self._sums += losses.detach()

    def _losses(self, unit: Unit, update: Update) -> Tensor:
        """(3,) the unit's share of the update's losses."""
        config = self.config
        aligned = unit.links is not None and config.alignment_weight > 0
        outputs = self.model(unit.src_ids, unit.tgt_in, with_alignment=aligned)
        states = outputs.states.flatten(0, 1).index_select(0, unit.real)  # (N, D)
        logits = self.model.output(states)  # (N, V)
        translation = label_smoothed_cross_entropy(
            logits, unit.targets, config.label_smoothing, config.compile
        )
        zero = translation.new_zeros(())
        selection = alignment = zero
        if self.model.nvs is not None:
            bow_logits = self.model.bow_logits(outputs.memory, outputs.src_mask)
            selection = nvs_loss(bow_logits, unit.tgt_out, self.positive_weight, config.compile)
        if aligned and unit.links is not None:
            alignment = guided_alignment_loss(outputs.alignment, *unit.links)
        return torch.stack(
            [
                translation / update.num_tokens,
                selection / update.num_sentences,
                alignment * (config.alignment_weight / update.num_tokens),
            ]
        )

    def _head_losses(self, unit: Unit, update: Update) -> Tensor:
        """(3,) the same for the head alone: the frozen encoder as inference sees it."""
        with torch.no_grad():
            memory, src_mask = self.model.encode(unit.src_ids)
        bow_logits = self.model.bow_logits(memory, src_mask)
        compiled = self.config.compile
        selection = nvs_loss(bow_logits, unit.tgt_out, self.positive_weight, compiled)
        zero = selection.new_zeros(())
        return torch.stack([zero, selection / update.num_sentences, zero])


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
        if self._share(progress.seconds) >= 1.0:
            self._finish()
            return 0
        if self.config.parts == "head":
            trainer.model.eval()
        else:
            trainer.model.train()
        updates = trainer.loader.updates(Position(progress.epoch, progress.epoch_update))
        first = next(updates)
        self._warm_up(first)
        self.started = time.monotonic()
        self.interval = replace(self.interval, started=self.started)
        with _signals() as received:
            stopped = self._steps(_chained(first, updates), received)
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
            if progress.update % config.validate_every == 0:
                self._checkpoint(validate=True)
            elif progress.update % config.checkpoint_every == 0:
                self._checkpoint(validate=False)
        raise AssertionError("the loader is endless")

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

    def _warm_up(self, first: Update) -> None:
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
        if not all(math.isfinite(values[name]) for name in LOSSES):
            raise DivergedError(
                f"the loss is not finite after update {progress.update}: lower "
                "training.learning_rate, or use precision bf16 or fp32"
            )
        speed = (progress.tokens - interval.tokens) / max(now - interval.started, 1e-9)
        values |= {"tokens": progress.tokens, "epoch": progress.epoch}
        values |= {"seconds": round(progress.seconds, 3), "tokens_per_second": round(speed)}
        if rate is not None:
            values["learning_rate"] = rate
        if self.metrics is not None:
            self.metrics.write("train", progress.update, values)
        done = progress.seconds if not self.config.max_updates else progress.update
        self.bar.show(done, speed, values["loss"] + values["nvs_loss"])
        self.interval = _Interval(now, progress.update, progress.tokens)

    def _checkpoint(self, validate: bool) -> None:
        """Validates and writes; the time it takes does not count as the next interval's."""
        self._log()
        validation = self.hooks.validate() if validate else None
        progress = self.progress
        if validation is not None:
            progress.validated = progress.update
            logger.info("update %d: %s", progress.update, validation)
            if self.metrics is not None:
                self.metrics.write("validation", progress.update, validation.plain())
        if self.metrics is not None:
            progress.metrics_bytes = self.metrics.bytes()
        progress.seconds = self._seconds()
        self.hooks.checkpoint(progress, validation)
        self.saved = progress.update
        self.interval = replace(self.interval, started=time.monotonic())

    def _finish(self) -> None:
        if self.progress.validated != self.progress.update or self.saved != self.progress.update:
            self._checkpoint(validate=self.progress.validated != self.progress.update)


def _chained(first: Update, rest: Iterator[Update]) -> Iterator[Update]:
    yield first
    yield from rest


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
