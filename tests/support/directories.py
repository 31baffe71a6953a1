"""Model directories with random weights, written without torch."""

from pathlib import Path
from typing import Any

from generated_models import Weights, random_weights

from sieve.bundle.config import ModelConfig
from sieve.bundle.directory import write_bundle
from sieve.bundle.integrity import MANIFEST_FILE
from sieve.bundle.quantization import LAYOUT, quantize
from sieve.config import to_dict
from sieve.data.corpus import Corpus

SEED = 6
"""Of a model that says something."""
METADATA = {"languages": ["xx", "yy"], "selection": {"threshold": 0.4}}


def write_model(
    directory: Path, corpus: Path, *, int8: bool = False, **changes: Any
) -> tuple[ModelConfig, Weights]:
    """A model for the tokenizers of a corpus, unsealed: tests change what it says."""
    tokenizers = Corpus.open(corpus).tokenizers()
    V = tokenizers.target.vocab_size
    settings: dict[str, Any] = {
        "src_vocab_size": V, "tgt_vocab_size": V, "encoder_layers": 1, "decoder_layers": 1,
        "d_model": 20, "d_ff": 50, "heads": 2, "tie": "none", **changes,
    }  # fmt: skip
    config = ModelConfig(**settings)
    weights = random_weights(config, SEED)
    sections: dict[str, Any] = {"model": to_dict(config), **METADATA}
    tensors: dict[str, Any] = dict(weights)
    if int8:
        sections["weights"] = {"format": "int8", "layout": LAYOUT}
        tensors = quantize(weights, "generated")
    write_bundle(directory, sections, tensors, tokenizers)
    unsealed(directory)
    return config, weights


def unsealed(directory: Path) -> Path:
    """The directory without its manifest, as older versions wrote it."""
    (directory / MANIFEST_FILE).unlink(missing_ok=True)
    return directory
