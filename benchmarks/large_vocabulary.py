"""A decoder step over 256,206 tokens against one over a shortlist, in the native engine.

    python benchmarks/large_vocabulary.py --output FILE.json

A model of NLLB-200 600M's dimensions with random int8 weights, made in memory; translations of a
forced length, because what random weights write means nothing. Both ways alternate. A step is what
a longer output costs more than a shorter one, divided by the difference; the head is shown apart,
exact and of rank 64 with a second look. Its states are made to have 64 dimensions that are not 0:
both heads then choose the same tokens, at the cost that they have anyway.
"""

import argparse
import json
import os
import statistics
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sieve.bundle.config import ModelConfig
from sieve.bundle.quantization import Integers, quantize
from sieve.bundle.weights import parameter_shapes
from sieve.engines.native.native_engine import NativeEngine, Timing
from sieve.engines.options import SearchOptions
from sieve.log import logger
from sieve.selection.plan import Selector
from sieve.selection.selectors import FullVocabulary, NeuralSelection
from sieve.tokenize.vocabulary import IntArray

LENGTHS = (4, 24)
"""Output tokens of the short and the long translation."""
NLLB = ModelConfig(
    src_vocab_size=256206,
    tgt_vocab_size=256206,
    encoder_layers=12,
    decoder_layers=12,
    d_model=1024,
    d_ff=4096,
    heads=16,
    decoder_mixer="attention",
    nvs_head="factored",
)


@dataclass(frozen=True)
class Forced(SearchOptions):
    """A search of exactly so many tokens; EOS cannot win."""

    length: int = 1

    def max_length(self, src_length: int) -> int:
        """The forced length."""
        return self.length


def random_tensors(config: ModelConfig) -> dict[str, Any]:
    """Random weights of a model with a factored head, in the int8 form."""
    rng = np.random.default_rng(1)
    tensors: dict[str, Any] = {}
    for name, shape in parameter_shapes(config).items():
        if len(shape) == 2:
            values = rng.integers(-127, 128, shape, np.int8)
            # rows of length about one
            scale = np.full(shape[0], 1 / (73 * shape[1] ** 0.5), np.float32)
            tensors[name] = Integers(values, scale)
        else:
            is_norm = name.endswith("norm.weight")
            tensors[name] = np.full(shape, 1.0 if is_norm else 0.0, np.float32)
    tensors["output.bias"][config.eos] = -1e4
    tensors["nvs.out.weight"].values[config.nvs_rank :] = 0
    first = 127 * np.eye(config.nvs_rank, config.d_model, dtype=np.int8)
    for side in ("tokens", "positions"):
        scale = np.full(len(first), 1 / 127, np.float32)
        tensors[f"nvs.factors.{side}.weight"] = Integers(first, scale)
    return quantize(tensors, "random weights")


@dataclass(frozen=True)
class Engines:
    """One model with either head, and one of its sentences."""

    exact: NativeEngine
    factored: NativeEngine
    source: IntArray

    @classmethod
    def random(cls, config: ModelConfig, arguments: argparse.Namespace) -> "Engines":
        """Of random weights; the slack leaves so many tokens for a second look as are asked."""
        tensors = random_tensors(config)
        shared = {name: array for name, array in tensors.items() if ".factors." not in name}
        exact = NativeEngine(replace(config, nvs_head="tied"), shared, int8=True, threads=1)
        rng = np.random.default_rng(2)
        ids = rng.integers(4, config.src_vocab_size, arguments.source - 1)
        source = np.array([*ids, config.eos])
        tokens = round(arguments.second_look * arguments.tokens)
        slack = cut_for(exact, source, arguments.tokens) - cut_for(exact, source, tokens)
        low = replace(config, nvs_slack=slack)
        return cls(exact, NativeEngine(low, tensors, int8=True, threads=1), source)


def cut_for(engine: NativeEngine, source: IntArray, tokens: int) -> float:
    """The logit that so many tokens exceed."""
    logits = engine.bow_logits(engine.encode([source]))[0].astype(np.float64)
    return float((np.sort(logits)[-tokens - 1] + np.sort(logits)[-tokens]) / 2)


def threshold_for(engine: NativeEngine, source: IntArray, tokens: int) -> float:
    """λ at which this sentence's shortlist has so many tokens."""
    return float(1 / (1 + np.exp(-cut_for(engine, source, tokens))))


def timing(
    engine: NativeEngine, source: IntArray, selection: Selector, beams: int, length: int
) -> tuple[Timing, int]:
    """Of one translation, and the size of its shortlist."""
    options = Forced(beam_size=beams, length=length)
    [[best, *_]], [spent] = engine.translate_timed([source], selection, options)
    assert len(best.token_scores) == length
    return spent, best.shortlist_size


def measure(engines: Engines, arguments: argparse.Namespace, beams: int) -> dict[str, Any]:
    """Milliseconds of all ways, medians over rounds."""
    source = engines.source
    selected = NeuralSelection(threshold_for(engines.exact, source, arguments.tokens))
    ways: dict[str, tuple[NativeEngine, Selector]] = {
        "full": (engines.exact, FullVocabulary()),
        "selected": (engines.exact, selected),
        "factored": (engines.factored, selected),
    }
    rounds: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    sizes = {}
    for repeat in range(arguments.rounds + 1):
        for way, (engine, selection) in ways.items():
            short, _ = timing(engine, source, selection, beams, LENGTHS[0])
            long, sizes[way] = timing(engine, source, selection, beams, LENGTHS[1])
            step = (long.search - short.search) / (LENGTHS[1] - LENGTHS[0])
            parts = {"encode": long.encode, "head": long.select, "gather": long.gather}
            whole = sum(parts.values()) + long.search
            if repeat:  # the first one warms up
                rounds[way].append({**parts, "step": step, "sentence": whole})
    medians = {
        way: {part: statistics.median(one[part] for one in found) for part in found[0]}
        for way, found in rounds.items()
    }
    return {
        "beams": beams,
        "shortlist": sizes,
        "ms": {
            way: {part: round(1000 * value, 2) for part, value in parts.items()}
            for way, parts in medians.items()
        },
        "step_ratio": round(medians["full"]["step"] / medians["selected"]["step"], 2),
        "sentence_ratio": round(medians["full"]["sentence"] / medians["selected"]["sentence"], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, nargs=2, default=(12, 12), metavar=("ENC", "DEC"))
    parser.add_argument("--tokens", type=int, default=1000, help="of the shortlist")
    parser.add_argument("--source", type=int, default=20, help="source tokens")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--second-look", type=float, default=1.5, help="as of sieve convert")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    logger.disabled = True
    encoder, decoder = arguments.layers
    config = replace(NLLB, encoder_layers=encoder, decoder_layers=decoder)
    engines = Engines.random(config, arguments)
    rows = []
    for beams in arguments.beams:
        rows.append(measure(engines, arguments, beams))
        print(json.dumps(rows[-1]), flush=True)
    result = {
        "command": " ".join(["python", "benchmarks/large_vocabulary.py", *sys.argv[1:]]),
        "load": os.getloadavg()[0],
        "model": {"encoder": encoder, "decoder": decoder, "width": 1024, "hidden": 4096},
        "tokens": config.tgt_vocab_size,
        "source_tokens": arguments.source,
        "output_tokens": LENGTHS[1],
        "rows": rows,
    }
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
