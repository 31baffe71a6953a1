"""A model whose tied head starts again, for a training run with another seed.

    python recipes/ablations/fresh_head.py MODEL SEED OUTPUT
    sieve train --config head.toml --init-from OUTPUT --set training.seed=SEED --output RUN

MODEL is a float model directory. The first matrix of the head is drawn with SEED, the second is
zero, as a new head begins; the biases, which say how common words are, stay.
"""

import sys
from pathlib import Path

import numpy as np

from sieve.bundle.directory import open_bundle, write_bundle

DRAWN = "nvs.hidden.weight"
ZERO = ("nvs.hidden.bias", "nvs.out.weight", "nvs.out.bias")


def fresh(model: Path, seed: int, output: Path) -> None:
    """Writes the model with its head drawn anew."""
    bundle = open_bundle(model)
    tensors = bundle.tensors()
    old = tensors[DRAWN]
    bound = (6.0 / sum(old.shape)) ** 0.5  # Xavier's
    tensors[DRAWN] = np.random.default_rng(seed).uniform(-bound, bound, old.shape).astype(old.dtype)
    tensors |= {name: np.zeros_like(tensors[name]) for name in ZERO}
    write_bundle(output, bundle.sections("selection"), tensors, bundle.tokenizers())


if __name__ == "__main__":
    fresh(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
