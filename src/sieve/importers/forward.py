"""The model's equations once more, in numpy and slowly: what imports are measured with.

One sentence at a time, all target positions at once, every attention kept. Shares no code with the
engines, so that it is also what they are checked against.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sieve.bundle.config import ModelConfig

Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Forced:
    """What a model says to a given translation."""

    logits: Array
    """(U + 1, V): before the first token, after each of them."""
    attention: Array
    """(layers, H, U + 1, T): cross-attention while the token behind was predicted."""


class Forward:
    """A model as equations over its fp32 tensors."""

    def __init__(self, config: ModelConfig, tensors: Mapping[str, Array]) -> None:
        self._config = config
        self._tensors = tensors

    def encode(self, src_ids: Sequence[int]) -> Array:
        """States (T, D) of a source sentence, its EOS included."""
        tied = self._config.tie == "all"
        x = self._embed("tgt_embedding" if tied else "src_embedding", src_ids)
        for n in range(self._config.encoder_layers):
            name = f"encoder.layers.{n}"
            x = self._around(x, f"{name}.attention_norm", f"{name}.attention", self._self_attend)
            x = self._around(x, f"{name}.feed_forward_norm", name, self._feed_forward)
        return self._norm("encoder.norm", x) if self._config.norm == "pre" else x

    def forced(self, states: Array, tgt_ids: Sequence[int]) -> Forced:
        """Logits and attention where the decoder reads a given translation, EOS not among it."""
        x, attention = self._decode(states, tgt_ids)
        return Forced(self._logits(x), attention)

    def greedy(self, src_ids: Sequence[int]) -> list[int]:
        """The most probable token again and again, without EOS; every step from the start."""
        states, tgt_ids = self.encode(src_ids), [*self._config.forced_start]
        while len(tgt_ids) < 2 * len(src_ids) + 10:
            logits = self._logits(self._decode(states, tgt_ids)[0][-1:])[0]
            logits[list(self._config.never)] = -np.inf
            best = int(logits.argmax())
            if best == self._config.eos:
                break
            tgt_ids.append(best)
        return tgt_ids

    def _decode(self, states: Array, tgt_ids: Sequence[int]) -> tuple[Array, Array]:
        """States (U + 1, D) and attention (layers, H, U + 1, T)."""
        x = self._start(tgt_ids)
        maps = []

        def cross(name: str, query: Array) -> Array:
            out, weights = self._cross_attend(name, query, states)
            maps.append(weights)
            return out

        ssru = self._config.decoder_mixer == "ssru"
        for n in range(self._config.decoder_layers):
            name = f"decoder.layers.{n}"
            mixer = self._recur if ssru else self._self_attend_causally
            x = self._around(x, f"{name}.mixer_norm", f"{name}.mixer", mixer)
            x = self._around(x, f"{name}.cross_norm", f"{name}.cross", cross)
            x = self._around(x, f"{name}.feed_forward_norm", name, self._feed_forward)
        if self._config.norm == "pre":
            x = self._norm("decoder.norm", x)
        return x, np.stack(maps)

    def _logits(self, x: Array) -> Array:
        own = self._config.tie == "none"
        matrix = self._tensors["output.weight" if own else "tgt_embedding.weight"]
        logits: Array = x @ matrix.T + self._tensors["output.bias"]
        return logits

    def log_probs(self, src_ids: Sequence[int], tgt_ids: Sequence[int]) -> Array:
        """Log-probabilities (U + 1,) of a translation's tokens and its EOS, over all words."""
        logits = self.forced(self.encode(src_ids), tgt_ids).logits.astype(np.float64)
        top = logits.max(axis=1)
        total = np.log(np.exp(logits - top[:, None]).sum(axis=1)) + top
        ids = [*tgt_ids, self._config.eos]
        scores: Array = (logits[np.arange(len(ids)), ids] - total).astype(np.float32)
        return scores

    def _start(self, tgt_ids: Sequence[int]) -> Array:
        """Decoder inputs (U + 1, D): the start, which may be zeros, and the tokens."""
        if self._config.start is not None:
            return self._embed("tgt_embedding", [self._config.start, *tgt_ids])
        table = self._scaled("tgt_embedding", tgt_ids)
        table = np.concatenate([np.zeros((1, self._config.d_model), np.float32), table])
        return table + self._positions(len(table))

    def _embed(self, name: str, ids: Sequence[int]) -> Array:
        embedded: Array = self._scaled(name, ids) + self._positions(len(ids))
        return embedded

    def _scaled(self, name: str, ids: Sequence[int]) -> Array:
        rows: Array = self._tensors[f"{name}.weight"][np.asarray(ids, np.int64)]
        scale = self._config.d_model**0.5 if self._config.embedding_scale else 1.0
        return rows * np.float32(scale)

    def _positions(self, count: int) -> Array:
        return sinusoids(count, self._config)

    def _around(self, x: Array, norm: str, name: str, sublayer) -> Array:  # type: ignore[no-untyped-def]
        if self._config.norm == "pre":
            after: Array = x + sublayer(name, self._norm(norm, x))
            return after
        return self._norm(norm, x + sublayer(name, x))

    def _norm(self, name: str, x: Array) -> Array:
        centred: Array = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True) + np.float32(self._config.norm_epsilon)
        weight, bias = self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"]
        normed: Array = centred / np.sqrt(variance) * weight + bias
        return normed

    def _linear(self, name: str, x: Array) -> Array:
        out: Array = x @ self._tensors[f"{name}.weight"].T + self._tensors[f"{name}.bias"]
        return out

    def _feed_forward(self, name: str, x: Array) -> Array:
        hidden = self._linear(f"{name}.feed_forward.hidden", x)
        return self._linear(
            f"{name}.feed_forward.out", _ACTIVATIONS[self._config.activation](hidden)
        )

    def _self_attend(self, name: str, x: Array) -> Array:
        query, key, value = np.split(self._linear(f"{name}.qkv", x), 3, axis=1)
        return self._linear(f"{name}.out", self._attend(query, key, value)[0])

    def _self_attend_causally(self, name: str, x: Array) -> Array:
        query, key, value = np.split(self._linear(f"{name}.qkv", x), 3, axis=1)
        future = np.triu(np.full((len(x), len(x)), -np.inf, np.float32), 1)
        return self._linear(f"{name}.out", self._attend(query, key, value, future)[0])

    def _cross_attend(self, name: str, x: Array, states: Array) -> tuple[Array, Array]:
        key, value = np.split(self._linear(f"{name}.key_value", states), 2, axis=1)
        context, weights = self._attend(self._linear(f"{name}.query", x), key, value)
        return self._linear(f"{name}.out", context), weights

    def _attend(
        self, query: Array, key: Array, value: Array, mask: Array | float = 0.0
    ) -> tuple[Array, Array]:
        """Contexts (U, D) and weights (H, U, T)."""
        H = self._config.heads
        query, key, value = (m.reshape(len(m), H, -1).swapaxes(0, 1) for m in (query, key, value))
        weights = _softmax(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]) + mask)
        context = (weights @ value).swapaxes(0, 1)
        return context.reshape(len(context), -1), weights

    def _recur(self, name: str, x: Array) -> Array:
        """SSRU: c = f c + (1 - f) W x, f = sigmoid(W_f x + b_f); relu(c)."""
        forget = _sigmoid(self._linear(f"{name}.forget", x))
        value = (1 - forget) * (x @ self._tensors[f"{name}.value.weight"].T)
        cell: Array = np.zeros(x.shape[1], np.float32)
        cells = []
        for f, v in zip(forget, value, strict=True):
            cell = f * cell + v
            cells.append(cell)
        activated: Array = np.maximum(np.stack(cells), 0)
        return activated


def sinusoids(count: int, config: ModelConfig) -> Array:
    """Positions (count, D): sines, then cosines, from `position_offset` on."""
    half = config.d_model // 2
    step = half if config.position_step == "half" else half - 1
    frequency = 10000.0 ** (-np.arange(half) / step)
    angle = np.outer(np.arange(count) + config.position_offset, frequency)
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1).astype(np.float32)


def _sigmoid(x: Array) -> Array:
    out: Array = np.reciprocal(1 + np.exp(-np.clip(x, -60, 60)))
    return out


def _softmax(x: Array) -> Array:
    exp: Array = np.exp(x - x.max(axis=-1, keepdims=True))
    out: Array = exp / exp.sum(axis=-1, keepdims=True)
    return out


_ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "swish": lambda x: x * _sigmoid(x),
    "gelu": lambda x: x * _sigmoid(1.702 * x),
}
