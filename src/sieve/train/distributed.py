"""Data-parallel processes: the only file that knows torch.distributed.

Each process runs some units of an update; gradients are summed, not averaged, because every loss
is already divided by the update's global counts. Started by torchrun, or alone.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

_PATIENCE = timedelta(hours=6)  # the others wait while the first process validates


@dataclass(frozen=True)
class Processes:
    """This process among all of them."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    control: Any = None
    """A group on the CPU for decisions, so that they never wait for the GPU."""

    @property
    def first(self) -> bool:
        """Whether this process writes files and talks to the user."""
        return self.rank == 0

    def sum_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Replaces every gradient by its sum over processes; none counts as zero."""
        if self.size == 1:
            return
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [p.grad for p in parameters if p.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        offset = 0
        for gradient in gradients:
            gradient.copy_(flat[offset : offset + gradient.numel()].view_as(gradient))
            offset += gradient.numel()

    def sum_tensor(self, values: Tensor) -> Tensor:
        """The sum of a small tensor over processes."""
        if self.size > 1:
            dist.all_reduce(values)
        return values

    def decide(self, values: Sequence[float]) -> list[float]:
        """The first process's values, everywhere."""
        if self.size == 1:
            return list(values)
        shared = torch.tensor(values, dtype=torch.float64)
        dist.broadcast(shared, src=0, group=self.control)
        return [float(value) for value in shared]

    def largest(self, value: float) -> float:
        """The largest of the processes' values, everywhere."""
        if self.size == 1:
            return value
        shared = torch.tensor([value], dtype=torch.float64)
        dist.all_reduce(shared, op=dist.ReduceOp.MAX, group=self.control)
        return float(shared[0])

    def close(self) -> None:
        """Leaves the group of processes."""
        if self.size > 1:
            dist.destroy_process_group()


def is_first_process() -> bool:
    """Whether this process, alone or among those of torchrun, is the one that writes."""
    return os.environ.get("RANK", "0") == "0"


def join(cuda: bool) -> Processes:
    """Joins the processes that torchrun started; alone if it did not."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return Processes()
    local_rank = int(os.environ.get("LOCAL_RANK", "0"))
    if cuda:
        torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=_PATIENCE)
    control = dist.new_group(backend="gloo", timeout=_PATIENCE)
    return Processes(dist.get_rank(), size, local_rank, control)
