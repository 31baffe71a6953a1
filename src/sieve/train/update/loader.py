"""From a batch plan to tensors on the device, ahead of the model.

A few threads assemble units (numpy releases the interpreter for most of it) while the model
computes; the next epoch is planned during the current one. Order and content depend on the plan
alone, never on the threads.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch
from torch import Tensor

from sieve.data.batching import (
    Batch,
    BatchingOptions,
    EpochPlan,
    LinkSource,
    make_batch,
    plan_epoch,
)
from sieve.data.pair_sources import Mixture
from sieve.tokenize.vocabulary import PAD, IntArray

_UNITS_AHEAD = 8


@dataclass(frozen=True)
class Position:
    """Where training stands in its data: all the state the loader has."""

    epoch: int = 0
    update: int = 0


@dataclass(frozen=True)
class Unit:
    """One forward pass, as tensors."""

    src_ids: Tensor  # (B, T)
    tgt_in: Tensor  # (B, U)
    tgt_out: Tensor  # (B, U)
    real: Tensor  # (N,) flat positions of the real target tokens in (B·U,)
    targets: Tensor  # (N,) their ids
    links: tuple[Tensor, Tensor] | None = None  # (L,) flat positions and weights

    def to(self, device: torch.device) -> "Unit":
        """Copies to the device without waiting."""

        def move(tensor: Tensor) -> Tensor:
            return tensor.to(device, non_blocking=True)

        return Unit(
            src_ids=move(self.src_ids),
            tgt_in=move(self.tgt_in),
            tgt_out=move(self.tgt_out),
            real=move(self.real),
            targets=move(self.targets),
            links=None if self.links is None else (move(self.links[0]), move(self.links[1])),
        )


@dataclass(frozen=True)
class Update:
    """One optimizer step: this process's units and the global counts."""

    position: Position
    following: Position
    num_tokens: int
    """Real target tokens of the whole update, over all processes."""
    num_sentences: int
    seeds: list[int]
    """One for each of this process's units; the same whichever process runs the unit."""
    futures: "list[Future[Unit]]" = field(default_factory=list)

    @property
    def weight(self) -> int:
        """Units to assemble; an update without one for this process counts, too."""
        return max(1, len(self.futures))

    def units(self, device: torch.device) -> Iterator[tuple[int, Unit]]:
        """(seed, unit) of each of this process's units, on the device."""
        for seed, future in zip(self.seeds, self.futures, strict=True):
            yield seed, future.result().to(device)


@dataclass(frozen=True)
class LoaderOptions:
    """What the loader needs besides the data."""

    batching: BatchingOptions
    rank: int = 0
    size: int = 1
    workers: int = 2
    pin: bool = False
    """Page-locked memory, for copies that run beside the model on a GPU."""


class Loader:
    """Endless updates from any position on."""

    def __init__(
        self, mixture: Mixture, options: LoaderOptions, links: Sequence[LinkSource] = ()
    ) -> None:
        self.mixture = mixture
        self.options = options
        self.links = links

    def plan(self, epoch: int) -> EpochPlan:
        """The plan of an epoch."""
        return plan_epoch(self.mixture, self.options.batching, epoch)

    def updates(self, start: Position) -> Iterator[Update]:
        """Updates from `start` on, assembled ahead of their use."""
        # a thread pins memory in the context of its own current device
        join_device = None
        if self.options.pin:
            join_device = partial(torch.cuda.set_device, torch.cuda.current_device())
        executor = ThreadPoolExecutor(
            self.options.workers, thread_name_prefix="loader", initializer=join_device
        )
        try:
            waiting: deque[Update] = deque()
            in_flight = 0
            for update in self._submit(executor, start):
                waiting.append(update)
                in_flight += update.weight
                while waiting and in_flight - waiting[0].weight >= _UNITS_AHEAD:
                    ready = waiting.popleft()
                    in_flight -= ready.weight
                    yield ready
        finally:
            executor.shutdown(wait=False, cancel_futures=True)

    def assemble(self, pair_ids: IntArray) -> Unit:
        """One unit of the given pairs, on the CPU."""
        batch = make_batch(self.mixture, pair_ids, self.options.batching.multiple, self.links)
        return unit_from(batch, self.options.pin)

    def _submit(self, executor: ThreadPoolExecutor, start: Position) -> Iterator[Update]:
        rank, size = self.options.rank, self.options.size
        epoch, index = start.epoch, start.update
        planned = executor.submit(self.plan, epoch)
        while True:
            plan = planned.result()
            planned = executor.submit(self.plan, epoch + 1)
            while index < plan.num_updates:
                units = plan.units(index)
                last = index + 1 == plan.num_updates
                yield Update(
                    position=Position(epoch, index),
                    following=Position(epoch + 1, 0) if last else Position(epoch, index + 1),
                    num_tokens=int(plan.update_tokens[index]),
                    num_sentences=plan.num_sentences(index),
                    seeds=self._seeds(epoch, index, len(units))[rank::size],
                    futures=[executor.submit(self.assemble, ids) for ids in units[rank::size]],
                )
                index += 1
            epoch, index = epoch + 1, 0

    def _seeds(self, epoch: int, index: int, count: int) -> list[int]:
        sequence = np.random.SeedSequence([self.options.batching.seed, epoch, index])
        return [int(seed) for seed in sequence.generate_state(count, np.uint64) >> np.uint64(1)]


def unit_from(batch: Batch, pin: bool = False) -> Unit:
    """A batch as tensors, optionally in page-locked memory."""
    flat = batch.tgt_out.ravel()
    real = np.flatnonzero(flat != PAD)
    links = None
    if batch.links is not None:
        links = (_tensor(batch.links.index, pin), _tensor(batch.links.weight, pin))
    return Unit(
        src_ids=_tensor(batch.src_ids, pin),
        tgt_in=_tensor(batch.tgt_in, pin),
        tgt_out=_tensor(batch.tgt_out, pin),
        real=_tensor(real, pin),
        targets=_tensor(flat[real], pin),
        links=links,
    )


def _tensor(array: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]", pin: bool) -> Tensor:
    tensor = torch.from_numpy(array)
    return tensor.pin_memory() if pin else tensor
