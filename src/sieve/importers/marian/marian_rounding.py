"""Marian's int8 products with fixed multipliers, float for float.

Activations a are rounded to q(a) = round(a · A), A stored with each matrix, and shifted by 127, so
that they are unsigned; the bias takes the shift away again. Both roundings are large beside the
product's own, so they are kept: (Σ (q(a) + 127) · w) · 1/(A·W) + b', with b' = b − Σ w · 127/(A·W).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sieve.bundle.fixed_inputs import FixedInput, FloatArray
from sieve.bundle.quantization import LIMIT, Integers


@dataclass(frozen=True)
class Multipliers:
    """Of a matrix of integers."""

    inputs: float
    """Of the activations it is multiplied with."""
    weights: float
    """Of its own values."""

    def of_embedding(self, matrix: Integers) -> "Multipliers":
        """The weights' as Marian finds it again: embeddings are read as floats and rounded anew."""
        unit = np.float32(1) / np.float32(self.weights)
        largest = np.float32(np.abs(matrix.values).max()) * unit
        return Multipliers(self.inputs, float(np.float32(LIMIT) / largest))


@dataclass(frozen=True, eq=False)
class Product:
    """One of Marian's layers."""

    matrix: Integers
    multipliers: Multipliers
    bias: FloatArray | None

    def scale(self) -> FloatArray:
        """Of the sums of integers."""
        product = np.float32(self.multipliers.inputs) * np.float32(self.multipliers.weights)
        return np.full(len(self.matrix.scale), np.float32(1) / product, np.float32)

    def shifted_bias(self) -> FloatArray:
        """The bias without what the shift adds."""
        limit = np.float32(LIMIT)
        inputs, weights = self.multipliers.inputs, self.multipliers.weights
        back = -((limit / np.float32(inputs)) * (limit / np.float32(weights))) / limit
        sums: FloatArray = self.matrix.values.sum(axis=1, dtype=np.int32).astype(np.float32) * back
        return sums if self.bias is None else sums + self.bias


def fixed_input(products: Sequence[Product]) -> FixedInput | None:
    """Of a layer of ours, made of layers of theirs; None where their inputs' multipliers differ."""
    inputs = {product.multipliers.inputs for product in products}
    if len(inputs) != 1:
        return None
    scale = np.concatenate([product.scale() for product in products])
    bias = np.concatenate([product.shifted_bias() for product in products])
    return FixedInput(inputs.pop(), scale, bias)
