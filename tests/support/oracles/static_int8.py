"""A Marian student in int8 with fixed multipliers, in numpy: what Firefox's engine computes.

Written from Marian's `intgemm_interface.h`: activations are rounded with a fixed multiplier and
shifted by 127 to be unsigned; a prepared bias takes the shift away. Norms, attention and SSRU are
in floats. Knows nothing of Sieve's own model directory.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
EPSILON = np.float32(1e-6)


class StaticStudent:
    """Post-norm encoder and SSRU decoder, all tied.

    Args:
        arrays: Parameters by Marian's names; matrices are (inputs, outputs), Wemb (tokens, width).
        alphas: Of each matrix, what its input is multiplied with.
        heads: Of attention.
    """

    def __init__(self, arrays: Mapping[str, Floats], alphas: Mapping[str, float], heads: int):
        self._arrays, self._alphas, self._heads = arrays, alphas, heads
        self.saturated = 0

    def product(self, x: Floats, name: str, bias: str | None) -> Floats:
        """x W + b."""
        weights = self._arrays[name].T if name == "Wemb" else self._arrays[name]
        a = np.float32(self._alphas[name])
        b = np.float32(127) / np.abs(weights).max()
        if name == "Wemb":
            b = np.float32(127) / (np.float32(127) * (np.float32(1) / b))
        integers = np.rint(weights * b).astype(np.int64)
        rounded = np.rint(x * a)
        self.saturated += int((np.abs(rounded) > 127).sum())
        shifted = np.clip(rounded, -127, 127).astype(np.int64) + 127
        back = -((np.float32(127) / a) * (np.float32(127) / b)) / np.float32(127)
        prepared = integers.sum(axis=0).astype(np.float32) * back
        if bias is not None:
            prepared = prepared + self._arrays[bias][0]
        return np.asarray((shifted @ integers).astype(np.float32) * (1 / (a * b)) + prepared)

    def linear(self, x: Floats, name: str, number: str) -> Floats:
        """A layer's matrix and bias by its number."""
        return self.product(x, f"{name}_W{number}", f"{name}_b{number}")

    def norm(self, x: Floats, name: str) -> Floats:
        """Over a row."""
        centred = x - x.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
        return np.asarray(scaled * self._arrays[f"{name}_scale"] + self._arrays[f"{name}_bias"])

    def attention(self, x: Floats, memory: Floats, name: str) -> Floats:
        """With its residual and norm."""
        parts = []
        projected = (
            self.linear(rows, name, n) for rows, n in ((x, "q"), (memory, "k"), (memory, "v"))
        )
        for q, k, v in zip(*(np.split(p, self._heads, axis=1) for p in projected), strict=True):
            scores = q @ k.T / np.sqrt(np.float32(q.shape[1]))
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            parts.append(shares / shares.sum(axis=1, keepdims=True) @ v)
        return self.norm(x + self.linear(np.concatenate(parts, axis=1), name, "o"), f"{name}_Wo_ln")

    def feed_forward(self, x: Floats, name: str) -> Floats:
        """With its residual and norm."""
        hidden = np.maximum(self.linear(x, name, "1"), 0)
        return self.norm(x + self.linear(hidden, name, "2"), f"{name}_ffn_ln")

    def embedded(self, rows: Floats) -> Floats:
        """With positions: sines, then cosines."""
        half = rows.shape[1] // 2
        steps = np.exp(np.arange(half) * (-np.log(10000.0) / (half - 1)))
        angles = np.arange(len(rows))[:, None] * steps
        positions = np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)
        return np.asarray(rows * np.float32(rows.shape[1]) ** np.float32(0.5) + positions)

    def table(self) -> Floats:
        """The embedding as read from the file: rounded, in floats."""
        b = np.float32(127) / np.abs(self._arrays["Wemb"]).max()
        return np.asarray(np.rint(self._arrays["Wemb"] * b) * (1 / b), np.float32)

    def forced(self, source: Sequence[int], target: Sequence[int], layers: int) -> list[float]:
        """Log-probabilities of a target's tokens; both begin as given and end with EOS."""
        x = self.embedded(self.table()[list(source)])
        for n in range(1, layers + 1):
            x = self.attention(x, x, f"encoder_l{n}_self")
            x = self.feed_forward(x, f"encoder_l{n}_ffn")
        memory, before = x, self.table()[list(target[:-1])]
        x = self.embedded(np.concatenate([np.zeros((1, before.shape[1]), np.float32), before]))
        for n in range(1, layers + 1):
            name = f"decoder_l{n}"
            forget = 1 / (1 + np.exp(-self.product(x, f"{name}_rnn_Wf", f"{name}_rnn_bf")))
            value = self.product(x, f"{name}_rnn_W", None)
            cell, cells = np.zeros(x.shape[1], np.float32), []
            for f, v in zip(forget, value, strict=True):
                cell = f * cell + (1 - f) * v
                cells.append(np.maximum(cell, 0))
            x = self.norm(x + np.stack(cells), f"{name}_rnn_ffn_ln")
            x = self.attention(x, memory, f"{name}_context")
            x = self.feed_forward(x, f"{name}_ffn")
        logits = self.product(x, "Wemb", "decoder_ff_logit_out_b").astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True)
        scores = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return [float(row[token]) for row, token in zip(scores, target, strict=True)]
