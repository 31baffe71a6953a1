"""Layers for a few rows: five kernels each, where `few_rows_triton` can, as in short batches.

The plain layers are the definition. Norms are folded into the maps after them once a model.
"""

from __future__ import annotations

import functools
import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn

from sieve.model import fused
from sieve.model.decoder import DecoderLayer
from sieve.model.encoder import Encoder, EncoderLayer
from sieve.model.layers import SSRU, FeedForward

if TYPE_CHECKING:
    from sieve.model.few_rows_triton import Folded


def kernels_for(x: Tensor, heads: int) -> ModuleType | None:
    """The kernels, where they can take rows x (N, D): few on a GPU, with usual heads."""
    if not x.is_cuda or os.environ.get("SIEVE_TRITON") == "0":
        return None
    kernels = _load()
    fits = kernels is not None and x.shape[0] <= kernels.MOST
    return kernels if fits and x.shape[1] // heads in (16, 32, 64, 128) else None


def encoder(kernels: ModuleType, encoder: Encoder, x: Tensor, mask: Tensor) -> Tensor:
    """The encoder on embedded sources x (B, T, D), mask (B, 1, 1, T) added: B·T rows."""
    B, T, D = x.shape
    x = x.reshape(B * T, D)
    attend = importlib.import_module("sieve.model.fused_triton").self_attend
    for layer in (cast(EncoderLayer, layer) for layer in encoder.layers):
        attention = layer.attention
        qkv = kernels.product(x, _after(attention.qkv, layer.attention_norm))
        context = attend(qkv.view(B, T, 3 * D), mask, attention.heads).view(B * T, D)
        x = kernels.product(context, _alone(attention.out), x)
        x = _feed_forward(kernels, x, layer.feed_forward, layer.feed_forward_norm)
    return fused.layer_norm(x, encoder.norm).view(B, T, D)


def decoder_layer(
    kernels: ModuleType,
    layer: DecoderLayer,
    x: Tensor,
    cells: fused.Cells,
    source: tuple[Tensor, Tensor],
) -> Tensor:
    """One step of a layer with an SSRU on rows x (N, D); source: keys and values, and mask."""
    x = kernels.ssru(x, _gates(cast(SSRU, layer.mixer), layer.mixer_norm), cells)
    query = _after(layer.cross.query, layer.cross_norm)
    context = kernels.query_attend(x, query, *source)
    x = kernels.product(context, _alone(layer.cross.out), x)
    return _feed_forward(kernels, x, layer.feed_forward, layer.feed_forward_norm)


def _feed_forward(kernels: ModuleType, x: Tensor, layer: FeedForward, norm: nn.LayerNorm) -> Tensor:
    hidden = kernels.product(x, _after(layer.hidden, norm), relu=True)
    out: Tensor = kernels.product(hidden, _alone(layer.out), x)
    return out


def _alone(linear: nn.Linear) -> Folded:
    return cast(ModuleType, _load()).Folded(linear.weight, linear.bias)


def _after(linear: nn.Linear, norm: nn.LayerNorm) -> Folded:
    return fold(linear, (linear.weight, linear.bias), norm)


def _gates(mixer: SSRU, norm: nn.LayerNorm) -> Folded:
    return fold(mixer, fused.fused_gates(mixer), norm)


def fold(owner: nn.Module, linear: tuple[Tensor, Tensor], norm: nn.LayerNorm) -> Folded:
    """A linear map after a norm as one; made once and kept with its owner."""
    held: Folded | None = owner.__dict__.get("_folded")
    weight, bias = linear
    if held is None or held.weight.dtype != weight.dtype or held.weight.device != weight.device:
        with torch.no_grad():
            folded = weight * norm.weight
            bias = bias.float() + weight.float() @ norm.bias.float()
            sums = folded.float().sum(dim=1)
            held = cast(ModuleType, _load()).Folded(folded, bias, sums, norm.eps)
        owner.__dict__["_folded"] = held
    assert held is not None
    return held


@functools.cache
def _load() -> ModuleType | None:
    try:
        return importlib.import_module("sieve.model.few_rows_triton")
    except ModuleNotFoundError:
        return None
