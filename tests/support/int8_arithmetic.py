"""The model in numpy, one sentence at a time, with the int8 arithmetic that the format describes.

An oracle for the native engine that shares nothing with it: weights are rounded by output channel,
activations by row, sums are integers, and everything else is done in float64.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.bundle.config import ModelConfig
from sieve.tokenize.vocabulary import BOS, EOS

Array = npt.NDArray[Any]


def rounded(x: Array) -> tuple[Array, Array]:
    """Integers of at most 127 and one scale for each row."""
    x = x.astype(np.float32)
    top = np.abs(x).max(axis=1, keepdims=True)
    integers = np.rint(x * (np.float32(127) / np.where(top > 0, top, np.float32(1))))
    return integers.astype(np.int64), (top / np.float32(127)).astype(np.float64)


class Int8Model:
    """Forward passes of a model whose fp32 weights are given."""

    def __init__(self, config: ModelConfig, weights: dict[str, Array]) -> None:
        self.config = config
        self.vectors = {n: w.astype(np.float64) for n, w in weights.items() if w.ndim == 1}
        self.matrices = {n: rounded_weights(w) for n, w in weights.items() if w.ndim == 2}

    def linear(self, x: Array, name: str, bias: bool = True) -> Array:
        weight, scale = self.matrices[f"{name}.weight"]
        values, steps = rounded(x)
        found: Array = (values @ weight.T) * steps * scale
        return found + self.vectors[f"{name}.bias"] if bias else found

    def embedded(self, name: str, ids: Sequence[int]) -> Array:
        integers, scale = self.matrices[f"{name}.weight"]
        D = self.config.d_model
        rows = integers[list(ids)] * scale[list(ids), None] * np.sqrt(D)
        frequency = np.exp(np.arange(D // 2) * (-np.log(10000.0) / (D // 2)))
        angles = np.arange(len(ids))[:, None] * frequency
        return np.asarray(rows + np.concatenate([np.sin(angles), np.cos(angles)], axis=1))

    def norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
        return np.asarray(scaled * self.vectors[f"{name}.weight"] + self.vectors[f"{name}.bias"])

    def attention(self, q: Array, k: Array, v: Array, causal: bool = False) -> Array:
        heads = self.config.heads
        parts = []
        for one in range(heads):
            qs, ks, vs = (np.split(x, heads, axis=1)[one] for x in (q, k, v))
            scores = qs @ ks.T / np.sqrt(qs.shape[1])
            if causal:
                scores = np.where(np.tri(len(q), len(k), dtype=bool), scores, -np.inf)
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            parts.append(shares / shares.sum(axis=1, keepdims=True) @ vs)
        return np.concatenate(parts, axis=1)

    def self_attention(self, x: Array, name: str, causal: bool) -> Array:
        q, k, v = np.split(self.linear(self.norm(x, f"{name}_norm"), f"{name}.qkv"), 3, axis=1)
        return x + self.linear(self.attention(q, k, v, causal), f"{name}.out")

    def feed_forward(self, x: Array, name: str) -> Array:
        hidden = self.linear(
            self.norm(x, f"{name}.feed_forward_norm"), f"{name}.feed_forward.hidden"
        )
        return x + self.linear(np.maximum(hidden, 0), f"{name}.feed_forward.out")

    def encode(self, src_ids: Sequence[int]) -> Array:
        x = self.embedded("tgt_embedding" if self.config.tie == "all" else "src_embedding", src_ids)
        for n in range(self.config.encoder_layers):
            layer = f"encoder.layers.{n}"
            x = self.feed_forward(self.self_attention(x, f"{layer}.attention", False), layer)
        return self.norm(x, "encoder.norm")

    def recur(self, x: Array, name: str) -> Array:
        normed = self.norm(x, f"{name}_norm")
        forget = 1 / (1 + np.exp(-self.linear(normed, f"{name}.forget")))
        value = self.linear(normed, f"{name}.value", bias=False)
        cell, cells = np.zeros(x.shape[1]), []
        for f, v in zip(forget, value, strict=True):
            cell = f * cell + (1 - f) * v
            cells.append(np.maximum(cell, 0))
        return np.asarray(x + np.stack(cells))

    def decode(self, memory: Array, tgt_in: Sequence[int]) -> Array:
        x = self.embedded("tgt_embedding", tgt_in)
        for n in range(self.config.decoder_layers):
            layer = f"decoder.layers.{n}"
            if self.config.decoder_mixer == "ssru":
                x = self.recur(x, f"{layer}.mixer")
            else:
                x = self.self_attention(x, f"{layer}.mixer", True)
            query = self.linear(self.norm(x, f"{layer}.cross_norm"), f"{layer}.cross.query")
            k, v = np.split(self.linear(memory, f"{layer}.cross.key_value"), 2, axis=1)
            x = x + self.linear(self.attention(query, k, v), f"{layer}.cross.out")
            x = self.feed_forward(x, layer)
        return self.norm(x, "decoder.norm")

    def output(self) -> str:
        return "output" if self.config.tie == "none" else "tgt_embedding"

    def log_probs(self, src_ids: Sequence[int], target: Sequence[int]) -> Array:
        """(U + 1, V) after each token of a target, all words allowed."""
        states = self.decode(self.encode(src_ids), [BOS, *target])
        logits = self.linear(states, self.output(), bias=False) + self.vectors["output.bias"]
        logits -= logits.max(axis=1, keepdims=True)
        return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))

    def forced(self, src_ids: Sequence[int], target: Sequence[int]) -> list[float]:
        """Log-probability of each token of a target, and of EOS."""
        found = self.log_probs(src_ids, target)
        return [float(row[id]) for row, id in zip(found, [*target, EOS], strict=True)]

    def bow_logits(self, src_ids: Sequence[int]) -> Array:
        states = self.encode(src_ids)
        name, config = "nvs", self.config
        if config.head_is_tied:
            hidden = np.maximum(self.linear(states, "nvs.hidden"), 0)
            states, name = self.linear(hidden, "nvs.out"), self.output()
        pooled = self.linear(states, name, bias=False).max(axis=0)
        if config.factored:
            integers, scale = self.matrices[f"{name}.weight"]
            factors = self.linear(integers * scale[:, None], "nvs.factors.tokens", bias=False)
            words, steps = rounded(factors)
            rows, sizes = rounded(self.linear(states, "nvs.factors.positions", bias=False))
            first = ((rows @ words.T) * sizes * steps[:, 0]).max(axis=0)
            pooled = (
                first if config.nvs_slack is None else np.minimum(pooled, first + config.nvs_slack)
            )
        return np.asarray(pooled + self.vectors["nvs.bias"])


def rounded_weights(weight: Array) -> tuple[Array, Array]:
    """Integers (N, K) and scales (N,): the largest of a row is 127 steps."""
    step = np.abs(weight).max(axis=1) / np.float32(127)
    integers = np.rint(weight / np.where(step > 0, step, np.float32(1))[:, None])
    return integers.astype(np.int64), step.astype(np.float64)
