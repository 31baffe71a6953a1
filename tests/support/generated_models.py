"""Small models with random weights, made with numpy alone, for tests of engines.

Random weights give flat distributions, in which the order of hypotheses hangs on the last bit.
These are made sharp instead: a few words stand out at each step, and translations end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.bundle.config import ModelConfig
from sieve.bundle.quantization import quantize
from sieve.bundle.weights import parameter_shapes
from sieve.engines.native.native_engine import NativeEngine
from sieve.selection.plan import Plan
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import EOS, IntArray

Weights = dict[str, npt.NDArray[np.float32]]

SMALL = ModelConfig(
    src_vocab_size=90,
    tgt_vocab_size=90,
    encoder_layers=2,
    decoder_layers=2,
    d_model=32,
    d_ff=64,
    heads=4,
    tie="none",  # tied random embeddings repeat one word for ever
    dropout=0.0,
)
SHARPNESS = 5.0
"""Standard deviation of the logits, about."""
GAIN = 2.5
"""Of the matrices of layers: what they compute outweighs the token that they read."""


@dataclass(frozen=True)
class Given:
    """A selector of fixed shortlists."""

    shortlists: Sequence[Shortlist]

    def plan(self) -> Plan:
        return Plan.given(self.shortlists)


def random_weights(config: ModelConfig, seed: int = 0) -> Weights:
    """Every parameter of a model; some translations of it end and some are cut."""
    rng = np.random.default_rng(seed)
    weights = {}
    for name, shape in sorted(parameter_shapes(config).items()):
        values = rng.normal(size=shape)
        if len(shape) == 2:
            values /= np.sqrt(shape[1])  # rows of output and embeddings have length 1
            if ".layers." in name:
                values *= GAIN
        elif name.endswith("norm.weight"):
            values = 1.0 + 0.1 * values
        else:
            values *= 0.1
        weights[name] = values.astype(np.float32)
    post = f"decoder.layers.{config.decoder_layers - 1}.feed_forward_norm"
    weights[f"{'decoder.norm' if config.norm == 'pre' else post}.weight"] *= SHARPNESS
    # near the highest of so many random logits
    weights["output.bias"][config.eos] += SHARPNESS * (
        np.sqrt(2 * np.log(config.tgt_vocab_size)) - 1.2
    )
    if config.nvs_head != "none":
        weights["nvs.bias"] -= 1.0
    return weights


def native(
    config: ModelConfig, weights: Mapping[str, npt.NDArray[Any]], **options: Any
) -> NativeEngine:
    """The native engine of a model; `int8=True` for the quantised form."""
    int8 = options.pop("int8", False)
    tensors = quantize(weights, "generated") if int8 else weights
    return NativeEngine(config, tensors, int8=int8, **{"threads": 1, **options})


def random_sentences(
    seed: int, number: int, words: int, longest: int = 12, shortest: int = 1, eos: int = EOS
) -> list[IntArray]:
    """Source ids with EOS at the end."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(shortest, longest + 1, number)
    return [np.array([*rng.integers(4, words, n), eos]) for n in lengths]


def random_shortlists(seed: int, number: int, words: int) -> list[Shortlist]:
    """Some small, some with most words, some with all of them."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 2 * words, number)
    return [
        Shortlist.everything(words) if size > words else Shortlist.of(rng.integers(0, words, size))
        for size in sizes
    ]
