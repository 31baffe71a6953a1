"""Pieces of a layer that inference runs as one kernel where Triton can, else as plain torch.

A decoder step for a few rows is bound by the number of kernels, not by arithmetic. Inference only:
no gradients, no dropout. The plain versions are the definition, the kernels are checked against it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sieve.bundle.config import ModelConfig
from sieve.kernels.buffers import Cells
from sieve.kernels.dispatch import kernels_for
from sieve.model.layers import SSRU, CrossAttention, FeedForward

T = TypeVar("T")


def takes(config: ModelConfig) -> bool:
    """Whether these pieces, and the kernels for few rows and captured searches, fit a model.

    They are written for the models that Sieve trains; others take the plain layers.
    """
    return (
        (config.norm, config.activation) == ("pre", "relu")
        and config.embedding_scale
        and None not in (config.start, config.pad)
    )


def layer_norm(x: Tensor, norm: nn.LayerNorm) -> Tensor:
    """The norm of x."""
    return F.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)


def embed_norm(
    ids: Tensor, table: Tensor, positions: Tensor, position: Tensor, norm: nn.LayerNorm
) -> tuple[Tensor, Tensor]:
    """Embedded ids (N,) at a position (1,) of positions (U, D), and their norm."""
    kernels = kernels_for("fused", table)
    if kernels is not None:
        x, normed = kernels.embed_norm(ids, table, positions, position, norm)
        return x, normed
    x = F.embedding(ids, table) * math.sqrt(table.shape[1]) + positions.index_select(0, position)
    return x, layer_norm(x, norm)


def cross_attention(cross: CrossAttention, x: Tensor, keys_values: Tensor, mask: Tensor) -> Tensor:
    """The attention of a sentence's K hypotheses x (B, K, D) to its source, mask added."""
    kernels = kernels_for("fused", x)
    if kernels is not None and kernels.attends(keys_values.shape[-1]):
        out: Tensor = cross.out(kernels.attend(cross.query(x), keys_values, mask))
        return out
    out = cross(x, keys_values, mask)
    return out


def add_norm(x: Tensor, y: Tensor, norm: nn.LayerNorm) -> tuple[Tensor, Tensor]:
    """The sum x + y and norm(x + y), for x and y (…, D)."""
    kernels = kernels_for("fused", x)
    if kernels is not None:
        total, normed = kernels.add_norm(x, y, norm.weight, norm.bias, norm.eps)
        return total, normed
    x = x + y
    return x, layer_norm(x, norm)


def ssru_add_norm(
    mixer: SSRU, x: Tensor, normed: Tensor, cells: Cells, norm: nn.LayerNorm
) -> tuple[Tensor, Tensor]:
    """The sum x + mixer(normed) and its norm; the new cells are written into the other half."""
    kernels = kernels_for("fused", x)
    if kernels is not None:
        gates = F.linear(normed, *fused_gates(mixer))  # (N, 2D)
        total, result = kernels.ssru_add_norm(gates, x, cells, norm)
        return total, result
    return add_norm(x, ssru_step(mixer, normed, cells), norm)


def ssru_step(mixer: SSRU, x: Tensor, cells: Cells) -> Tensor:
    """One step on x (N, D); the new cells are written into the other half."""
    half = cells.position % 2
    before = cells.halves.index_select(0, half)[0].index_select(0, cells.parents)
    mixed, after = mixer.step(x, before)
    cells.halves.index_copy_(0, 1 - half, after[None])
    return mixed


def feed_forward(x: Tensor, layer: FeedForward) -> Tensor:
    """The layer on x (…, D)."""
    if x.is_cuda and x.dim() == 2:  # the ReLU rides on the matrix product
        hidden = torch._addmm_activation(layer.hidden.bias, x, layer.hidden.weight.T)
        out: Tensor = layer.out(hidden)
        return out
    out = layer(x)
    return out


def fused_gates(mixer: SSRU) -> tuple[Tensor, Tensor]:
    """Weight (2D, D) and bias (2D,) of forget gate and value in one; kept while they last."""
    parts = (mixer.forget.weight, mixer.value.weight, mixer.forget.bias)

    def make() -> tuple[Tensor, Tensor]:
        bias = torch.cat((mixer.forget.bias, torch.zeros_like(mixer.forget.bias)))
        return torch.cat((mixer.forget.weight, mixer.value.weight)).detach(), bias.detach()

    return kept(mixer, "_fused_gates", parts, make)


def kept(owner: nn.Module, name: str, parts: Sequence[Tensor], make: Callable[[], T]) -> T:
    """What `make` makes of some weights, kept with their owner until one of them changes.

    A change is one that autograd counts; weights made in inference mode count as never changed.
    """
    stamp = [
        (id(part), part.data_ptr(), part.dtype, 0 if part.is_inference() else part._version)
        for part in parts
    ]
    held: tuple[object, Sequence[Tensor], T] | None = owner.__dict__.get(name)
    if held is None or held[0] != stamp:
        held = stamp, parts, make()  # with the parts, so that no other tensor gets their addresses
        owner.__dict__[name] = held
    return held[2]
