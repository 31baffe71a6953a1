"""One update: forward and backward of its units, sum over processes, optimizer step.

Losses are divided by the update's global counts, which the plan knows, so gradients are summed and
never averaged. The host does not wait for the device. Knows neither budgets nor files.
"""

import itertools
import time
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from sieve.model.transformer import TranslationModel
from sieve.tokenize.vocabulary import EOS
from sieve.train.config import TrainingConfig
from sieve.train.distributed import Processes
from sieve.train.state import Progress
from sieve.train.update.loader import Loader, Unit, Update
from sieve.train.update.loss import (
    PositiveWeight,
    Reach,
    cross_entropy_and_reach,
    guided_alignment_loss,
    label_smoothed_cross_entropy,
    nvs_loss,
    reachable_tokens,
)
from sieve.train.update.optimizer import Optimizer
from sieve.train.update.precision import DTYPES
from sieve.train.update.schedule import Schedule

LOSSES = ("loss", "nvs_loss", "alignment_loss", "reach_loss")
_SIZE_CLASSES = (12, 24, 48, 100)
"""Lengths that stand for the size classes of the kernels."""


class Trainer:
    """Moves a model from one position in the data to the next."""

    def __init__(
        self, model: TranslationModel, config: TrainingConfig, loader: Loader, schedule: Schedule
    ) -> None:
        self.model = model
        self.config = config
        self.loader = loader
        self.schedule = schedule
        self.device: torch.device = next(model.parameters()).device
        if config.parts == "head":
            for parameter in model.translation_parameters():
                parameter.requires_grad_(False)
        self.optimizer: Optimizer = Optimizer(model, config)
        self.positive_weight: PositiveWeight = PositiveWeight.parse(config.positive_weight)
        self.progress: Progress = Progress()
        self._sums = torch.zeros(len(LOSSES), dtype=torch.float64, device=self.device)
        self._norms: list[Tensor] = []

    def warm_up(self, updates: Sequence[Update]) -> float:
        """Forward and backward without a step, so that compilation comes before the clock.

        Returns the seconds it took. Weights and moments stay as they are.
        """
        started = time.monotonic()
        for unit in _small_units() if self.config.parts == "all" else ():
            self._backward(unit.to(self.device), 0, updates[0])
        for update in updates:
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
        """(4,) the unit's share of the update's losses."""
        config = self.config
        aligned = unit.links is not None and config.alignment_weight > 0
        outputs = self.model(unit.src_ids, unit.tgt_in, with_alignment=aligned)
        states = outputs.states.flatten(0, 1).index_select(0, unit.real)  # (N, D)
        bow_logits = None
        if self.model.nvs is not None:
            bow_logits = self.model.bow_logits(outputs.memory, outputs.src_mask)
        translation, reach = self._token_losses(states, bow_logits, unit)
        selection = alignment = translation.new_zeros(())
        if bow_logits is not None:
            selection = nvs_loss(bow_logits, unit.tgt_out, self.positive_weight, config.compile)
        if aligned and unit.links is not None:
            alignment = guided_alignment_loss(outputs.alignment, *unit.links)
        return torch.stack(
            [
                translation / update.num_tokens,
                selection * (config.nvs_weight / update.num_sentences),
                alignment * (config.alignment_weight / update.num_tokens),
                reach * (config.reach_weight / update.num_tokens),
            ]
        )

    def _token_losses(
        self, states: Tensor, bow_logits: Tensor | None, unit: Unit
    ) -> tuple[Tensor, Tensor]:
        """Translation and reach loss of the real tokens' states (N, D), as sums."""
        config = self.config
        smoothing, compiled = config.label_smoothing, config.compile
        logits = self.model.output(states)  # (N, V)
        if bow_logits is None or not config.reach_weight:
            loss = label_smoothed_cross_entropy(logits, unit.targets, smoothing, compiled)
            return loss, loss.new_zeros(())
        reachable = reachable_tokens(bow_logits, unit.tgt_out, config.reach_threshold)
        reach = Reach(reachable, unit.real // unit.tgt_out.shape[1])
        return cross_entropy_and_reach(logits, unit.targets, reach, smoothing, compiled)

    def _head_losses(self, unit: Unit, update: Update) -> Tensor:
        """(4,) the same for the head alone: the frozen encoder as inference sees it."""
        with torch.no_grad():
            memory, src_mask = self.model.encode(unit.src_ids)
        bow_logits = self.model.bow_logits(memory, src_mask)
        compiled = self.config.compile
        selection = nvs_loss(bow_logits, unit.tgt_out, self.positive_weight, compiled)
        zero = selection.new_zeros(())
        share = self.config.nvs_weight / update.num_sentences
        return torch.stack([zero, selection * share, zero, zero])


def _small_units() -> Iterator[Unit]:
    """A few rows of every size class that kernels are compiled for (powers of two of lengths)."""
    for T, U in itertools.product(_SIZE_CLASSES, repeat=2):
        if max(T, U) <= 2 * min(T, U) + 4:
            src, tgt = (torch.full((4, length), EOS) for length in (T, U))
            yield Unit(src, tgt, tgt, torch.arange(4 * U), tgt.flatten())
