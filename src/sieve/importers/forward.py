"""The model's equations once more, in numpy: what imports are measured with.

All positions of a translation at once, every attention kept. Shares no code with the engines, so
that it is also what they are checked against. The tokens of several sentences lie one behind the
other (N rows); only attention and recurrence know where one ends.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sieve.bundle.config import ModelConfig

Array = npt.NDArray[np.float32]
Ids = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Stacked:
    """Vectors of several sentences, one behind the other."""

    values: Array
    """(N, D)."""
    places: tuple[slice, ...]
    """The rows of each sentence."""

    def of(self, values: Array) -> "Stacked":
        """Other vectors of the same sentences."""
        return Stacked(values, self.places)


@dataclass(frozen=True)
class Forced:
    """What a model says to a given translation."""

    states: Array
    """(U + 1, D): before the first token, after each of them."""
    attention: Array
    """(layers, H, U + 1, T): cross-attention while the token behind was predicted."""


class Forward:
    """A model as equations over its float32 tensors."""

    def __init__(self, config: ModelConfig, tensors: Mapping[str, Array]) -> None:
        self._config = config
        self._tensors = tensors

    def forced(self, src_ids: Ids, tgt_ids: Ids) -> list[Forced]:
        """States and attention where the decoder reads given translations, EOS not among them."""
        sources = self._encode(src_ids)
        x = self._start(tgt_ids)
        maps: list[list[Array]] = []

        def cross(name: str, queries: Stacked) -> Array:
            out, weights = self._cross_attend(name, queries, sources)
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
            x = x.of(self._norm("decoder.norm", x.values))
        return [
            Forced(x.values[place], np.stack([layer[n] for layer in maps]))
            for n, place in enumerate(x.places)
        ]

    def logits(self, states: Array) -> npt.NDArray[np.float64]:
        """(U + 1, V) from states."""
        own = self._config.tie == "none"
        matrix = self._tensors["output.weight" if own else "tgt_embedding.weight"]
        logits: Array = states @ matrix.T + self._tensors["output.bias"]
        return logits.astype(np.float64)

    def log_probs(self, src_ids: Sequence[int], tgt_ids: Sequence[int]) -> Array:
        """Log-probabilities (U + 1,) of a translation's tokens and its EOS, over all tokens."""
        logits = self.logits(self.forced([src_ids], [tgt_ids])[0].states)
        top = logits.max(axis=1)
        total = np.log(np.exp(logits - top[:, None]).sum(axis=1)) + top
        ids = [*tgt_ids, self._config.eos]
        scores: Array = (logits[np.arange(len(ids)), ids] - total).astype(np.float32)
        return scores

    def _encode(self, src_ids: Ids) -> Stacked:
        """States of source sentences, their EOS included."""
        tied = self._config.tie == "all"
        x = self._embed("tgt_embedding" if tied else "src_embedding", src_ids)
        for n in range(self._config.encoder_layers):
            name = f"encoder.layers.{n}"
            x = self._around(x, f"{name}.attention_norm", f"{name}.attention", self._self_attend)
            x = self._around(x, f"{name}.feed_forward_norm", name, self._feed_forward)
        return x.of(self._norm("encoder.norm", x.values)) if self._config.norm == "pre" else x

    def _start(self, tgt_ids: Ids) -> Stacked:
        """Decoder inputs (U + 1 a sentence): the start, which may be zeros, and the tokens."""
        start = self._config.start
        x = self._embed("tgt_embedding", [[start or 0, *ids] for ids in tgt_ids])
        if start is None:
            for place in x.places:
                x.values[place.start] = sinusoids(1, self._config)[0]
        return x

    def _embed(self, name: str, sentences: Ids) -> Stacked:
        ids = np.array([index for sentence in sentences for index in sentence], np.int64)
        scale = self._config.d_model**0.5 if self._config.embedding_scale else 1.0
        values = self._tensors[f"{name}.weight"][ids] * np.float32(scale)
        ends = np.cumsum([0, *map(len, sentences)]).tolist()
        places = tuple(slice(start, end) for start, end in pairwise(ends))
        for place in places:
            values[place] += sinusoids(place.stop - place.start, self._config)
        return Stacked(values, places)

    def _around(
        self, x: Stacked, norm: str, name: str, sublayer: Callable[[str, Stacked], Array]
    ) -> Stacked:
        if self._config.norm == "pre":
            return x.of(x.values + sublayer(name, x.of(self._norm(norm, x.values))))
        return x.of(self._norm(norm, x.values + sublayer(name, x)))

    def _norm(self, name: str, x: Array) -> Array:
        centred: Array = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True) + np.float32(self._config.norm_epsilon)
        weight, bias = self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"]
        normed: Array = centred / np.sqrt(variance) * weight + bias
        return normed

    def _linear(self, name: str, x: Array) -> Array:
        out: Array = x @ self._tensors[f"{name}.weight"].T + self._tensors[f"{name}.bias"]
        return out

    def _feed_forward(self, name: str, x: Stacked) -> Array:
        hidden = self._linear(f"{name}.feed_forward.hidden", x.values)
        activated = _ACTIVATIONS[self._config.activation](hidden)
        return self._linear(f"{name}.feed_forward.out", activated)

    def _self_attend(self, name: str, x: Stacked) -> Array:
        return self._among_themselves(name, x, causal=False)

    def _self_attend_causally(self, name: str, x: Stacked) -> Array:
        return self._among_themselves(name, x, causal=True)

    def _among_themselves(self, name: str, x: Stacked, causal: bool) -> Array:
        query, key, value = np.split(self._linear(f"{name}.qkv", x.values), 3, axis=1)
        contexts = [
            self._attend(query[place], key[place], value[place], causal)[0] for place in x.places
        ]
        return self._linear(f"{name}.out", np.concatenate(contexts))

    def _cross_attend(self, name: str, x: Stacked, sources: Stacked) -> tuple[Array, list[Array]]:
        key, value = np.split(self._linear(f"{name}.key_value", sources.values), 2, axis=1)
        query = self._linear(f"{name}.query", x.values)
        attended = [
            self._attend(query[ours], key[theirs], value[theirs], causal=False)
            for ours, theirs in zip(x.places, sources.places, strict=True)
        ]
        out = self._linear(f"{name}.out", np.concatenate([context for context, _ in attended]))
        return out, [weights for _, weights in attended]

    def _attend(self, query: Array, key: Array, value: Array, causal: bool) -> tuple[Array, Array]:
        """Contexts (U, D) and weights (H, U, T)."""
        H = self._config.heads
        query, key, value = (m.reshape(len(m), H, -1).swapaxes(0, 1) for m in (query, key, value))
        scores = query @ key.swapaxes(1, 2) / np.sqrt(np.float32(query.shape[-1]))
        if causal:
            scores = scores + np.triu(np.full(scores.shape[1:], -np.inf, np.float32), 1)
        weights = _softmax(scores)
        context = (weights @ value).swapaxes(0, 1)
        return context.reshape(len(context), -1), weights

    def _recur(self, name: str, x: Stacked) -> Array:
        """SSRU: c = f c + (1 - f) W x, f = sigmoid(W_f x + b_f); relu(c)."""
        forget = _sigmoid(self._linear(f"{name}.forget", x.values))
        cells: Array = (1 - forget) * (x.values @ self._tensors[f"{name}.value.weight"].T)
        for place in x.places:
            for row in range(place.start + 1, place.stop):
                cells[row] += forget[row] * cells[row - 1]
        activated: Array = np.maximum(cells, 0)
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
