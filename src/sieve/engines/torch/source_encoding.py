"""The encoder of inference: padded sentences in, states out.

On a GPU norms are fused with what they follow, with fewer kernels for few rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sieve.engines.torch import few_rows, fused
from sieve.kernels.dispatch import kernels_for
from sieve.model.encoder import Encoder, EncoderLayer
from sieve.model.layers import SelfAttention, merge_heads, split_heads
from sieve.model.transformer import TranslationModel
from sieve.tokenize.vocabulary import IntArray

_SHORT = 128
"""Tokens up to which our own attention is the faster one."""


def pad(
    sentences: Sequence[Sequence[int] | IntArray], fill: int, width: int = 1
) -> npt.NDArray[np.int64]:
    """(B, T) with `fill` behind each sentence; T is the longest, `width` at least."""
    longest = max(map(len, sentences), default=1)
    padded = np.full((len(sentences), max(width, longest)), fill, np.int64)
    for row, ids in zip(padded, sentences, strict=True):
        row[: len(ids)] = ids
    return padded


def encode_source(model: TranslationModel, src_ids: Tensor) -> tuple[Tensor, Tensor]:
    """As model.encode, with residual connections and norms fused: memory (B, T, D), mask (B, T)."""
    if kernels_for("fused", model.tgt_embedding.weight) is None or not fused.takes(model.config):
        return model.encode(src_ids)
    src_mask = src_ids != model.config.specials.fill
    zeros = torch.zeros_like(src_mask, dtype=model.src_embedding.weight.dtype)
    mask = zeros.masked_fill(~src_mask, -math.inf)[:, None, None, :]
    few = few_rows.few_row_kernels(src_ids, model)
    if few is not None:
        return few_rows.encode(few, model, src_ids, mask), src_mask
    return _encoder(model.encoder, model.embed_source(src_ids), mask), src_mask


def _encoder(encoder: Encoder, x: Tensor, mask: Tensor) -> Tensor:
    layers = [layer for layer in encoder.layers if isinstance(layer, EncoderLayer)]
    B, T, D = x.shape
    x = x.reshape(B * T, D)
    normed = fused.layer_norm(x, layers[0].attention_norm)
    for index, layer in enumerate(layers):
        last = index + 1 == len(layers)
        after = cast(nn.LayerNorm, encoder.norm) if last else layers[index + 1].attention_norm
        mixed = _attention(layer.attention, normed.view(B, T, D), mask).view(B * T, D)
        x, normed = fused.add_norm(x, mixed, layer.feed_forward_norm)
        x, normed = fused.add_norm(x, fused.feed_forward(normed, layer.feed_forward), after)
    return normed.view(B, T, D)


def _attention(attention: SelfAttention, x: Tensor, mask: Tensor) -> Tensor:
    heads, kernels = attention.heads, kernels_for("fused", x)
    T, D = x.shape[1:]
    if kernels is not None and T <= _SHORT and kernels.attends(D // heads):
        out: Tensor = attention.out(kernels.self_attend(attention.qkv(x), mask, heads))
        return out
    q, k, v = (split_heads(part, heads) for part in attention.qkv(x).chunk(3, dim=-1))
    context = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    out = attention.out(merge_heads(context))
    return out
