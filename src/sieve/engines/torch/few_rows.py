"""Layers for a few rows: five kernels each, where `few_rows_triton` can, as in short batches.

The plain layers are the definition. Norms are folded into the maps after them once a model.
"""

from __future__ import annotations

from types import ModuleType
from typing import cast

import torch
from torch import Tensor, nn

from sieve.engines.torch import fused
from sieve.kernels.buffers import Cells, Folded, Rows
from sieve.kernels.dispatch import kernels_for, load
from sieve.model.decoder import DecoderLayer
from sieve.model.encoder import EncoderLayer
from sieve.model.layers import SSRU, FeedForward
from sieve.model.transformer import TranslationModel


def few_row_kernels(ids: Tensor, model: TranslationModel) -> ModuleType | None:
    """The kernels, where they can take the model and as many rows as ids: few on a GPU."""
    if not fused.takes(model.config):
        return None
    kernels = kernels_for("few_rows", ids)
    width = model.config.d_model // model.config.heads
    fits = kernels is not None and ids.numel() <= kernels.MOST and width in (16, 32, 64, 128)
    return kernels if fits else None


def encode(kernels: ModuleType, model: TranslationModel, src_ids: Tensor, mask: Tensor) -> Tensor:
    """Memory (B, T, D) of source ids (B, T), mask (B, 1, 1, T) added: B·T rows."""
    (B, T), D = src_ids.shape, model.config.d_model
    table = model.src_embedding.weight
    pieces = load("fused")
    assert pieces is not None, "few_rows_triton is made of it"
    positions = fused.kept(model, f"_positions_{T}", [table], lambda: model.positions(T))
    rows = kernels.embed(src_ids.flatten(), table, positions)
    for layer in (cast(EncoderLayer, layer) for layer in model.encoder.layers):
        attention = layer.attention
        qkv = kernels.product(rows, _after(attention.qkv, layer.attention_norm))
        context = pieces.self_attend(qkv.view(B, T, 3 * D), mask, attention.heads).view(B * T, D)
        rows = kernels.product_add(context, _alone(attention.out), rows)
        rows = _feed_forward(kernels, rows, layer.feed_forward, layer.feed_forward_norm)
    memory: Tensor = kernels.norm(rows, model.encoder.norm)
    return memory.view(B, T, D)


def decoder_layer(
    kernels: ModuleType,
    layer: DecoderLayer,
    rows: Rows,
    cells: Cells,
    source: tuple[Tensor, Tensor],
) -> Rows:
    """One step of a layer with an SSRU on rows (N, D); source: keys and values, and mask."""
    rows = kernels.ssru(rows, _gates(cast(SSRU, layer.mixer), layer.mixer_norm), cells)
    query = _after(layer.cross.query, layer.cross_norm)
    context = kernels.query_attend(rows, query, *source)
    rows = kernels.product_add(context, _alone(layer.cross.out), rows)
    return _feed_forward(kernels, rows, layer.feed_forward, layer.feed_forward_norm)


def _feed_forward(kernels: ModuleType, rows: Rows, layer: FeedForward, norm: nn.LayerNorm) -> Rows:
    hidden = kernels.product(rows, _after(layer.hidden, norm), relu=True)
    out: Rows = kernels.product_add(hidden, _alone(layer.out), rows)
    return out


def _alone(linear: nn.Linear) -> Folded:
    return Folded(linear.weight, linear.bias)


def _after(linear: nn.Linear, norm: nn.LayerNorm) -> Folded:
    return fold(linear, (linear.weight, linear.bias), norm)


def _gates(mixer: SSRU, norm: nn.LayerNorm) -> Folded:
    return fold(mixer, fused.fused_gates(mixer), norm)


def fold(owner: nn.Module, linear: tuple[Tensor, Tensor], norm: nn.LayerNorm) -> Folded:
    """A linear map after a norm as one; made once and kept with its owner."""
    weight, bias = linear

    @torch.no_grad()
    def make() -> Folded:
        folded = weight * norm.weight
        moved = bias.float() + weight.float() @ norm.bias.float()
        return Folded(folded, moved, folded.float().sum(dim=1), norm.eps)

    return fused.kept(owner, "_folded", (weight, bias, norm.weight, norm.bias), make)
