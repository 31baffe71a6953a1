"""A sharper model: the logits of all output words times a factor, as a model directory again.

Selection renormalises probabilities over fewer words, and what lay on the others moves a beam's
scores. With sharper probabilities less of it does. The factor goes into the decoder's last norm and
the output biases; a factor of 1 gives the model itself. docs/decisions.md has what it costs.
"""

from pathlib import Path

import numpy as np

from sieve.bundle.directory import open_bundle, write_bundle
from sieve.errors import InputError

SCALED = ("decoder.norm.weight", "decoder.norm.bias", "output.bias")


def sharpen(model: Path, factor: float, output: Path) -> None:
    """Writes the sharper model."""
    if not factor > 0:
        raise InputError(f"ship.sharpen: got the factor {factor}, expected above 0")
    bundle = open_bundle(model)
    tensors = bundle.tensors()
    for name in SCALED:
        tensors[name] = (tensors[name].astype(np.float64) * factor).astype(tensors[name].dtype)
    write_bundle(output, bundle.sections(), tensors, bundle.tokenizers())
