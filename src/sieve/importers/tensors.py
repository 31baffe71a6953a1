"""What importers do with matrices, whatever their family: fuse them, and check the whole set."""

from collections.abc import Mapping, Sequence

import numpy as np

from sieve.bundle.config import ModelConfig
from sieve.bundle.fixed_inputs import is_fixed_input
from sieve.bundle.quantization import Integers
from sieve.bundle.weights import parameter_shapes
from sieve.errors import ModelError
from sieve.importers.foreign_model import Matrix


def fused(parts: Sequence[Matrix]) -> Matrix:
    """Matrices one below the other; integers stay integers where all of them are."""
    integers = [part for part in parts if isinstance(part, Integers)]
    if len(integers) == len(parts):
        return Integers(
            np.concatenate([part.values for part in integers]),
            np.concatenate([part.scale for part in integers]),
        )
    return np.concatenate(list(map(floats, parts)))


def floats(matrix: Matrix) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """What a matrix stands for, in float32."""
    return matrix.floats() if isinstance(matrix, Integers) else matrix.astype(np.float32)


def check_tensors(tensors: Mapping[str, Matrix], config: ModelConfig, where: str) -> None:
    """Refuses tensors that are not exactly those of the configuration, or are not finite."""
    if config.encoder_layers + config.decoder_layers > len(tensors):
        raise ModelError(f"{where}: got {len(tensors)} tensors for more layers than that")
    shapes = parameter_shapes(config)
    names = {name for name in tensors if not is_fixed_input(name)}
    missing, extra = shapes.keys() - names, names - shapes.keys()
    if missing or extra:
        raise ModelError(f"{where}: lacks or has too much: {sorted(missing | extra)[0]}")
    for name, shape in shapes.items():
        matrix = tensors[name]
        if matrix.shape != shape:
            raise ModelError(f"{where}: {name} has shape {matrix.shape}, expected {shape}")
        if not isinstance(matrix, Integers) and not np.isfinite(matrix).all():
            raise ModelError(f"{where}: damaged: {name} has weights that are not finite")
