"""How fast batches are planned and assembled, and how much of them is padding, on the CPU.

    python benchmarks/loader.py --data CORPUS … --output docs/results/loader.json

Without --data it writes a generated corpus of two million pairs first, with the lengths of real
text (gamma distributed, 25 tokens mean) and random ids.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from sieve.data.batching import BatchingOptions, EpochPlan, make_batch, plan_epoch
from sieve.data.corpus import Corpus, Ragged
from sieve.data.corpus_writer import CorpusWriter
from sieve.data.pair_sources import Mixture
from sieve.files import whole_directory
from sieve.tokenize.tokenizer_training import TokenizerOptions, train_tokenizers
from sieve.train.update.loader import Loader, LoaderOptions, Position


def generate(directory: Path, pairs: int) -> None:
    rng = np.random.default_rng(0)
    sample = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in "nrst"]
    tokenizers = train_tokenizers(TokenizerOptions(vocab_size=400), sample, sample)
    with (
        whole_directory(directory) as partial,
        CorpusWriter(partial, tokenizers, ("xx", "yy")) as writer,
    ):
        for first in range(0, pairs, 100_000):
            count = min(100_000, pairs - first)
            src = np.clip(rng.gamma(1.6, 15.0, count), 1, 99).astype(np.int64)
            tgt = np.clip(src * rng.normal(1.1, 0.15, count), 1, 99).astype(np.int64)
            sides = [
                Ragged(
                    rng.integers(4, 400, int(lengths.sum())).astype(np.int32),
                    np.concatenate([[0], np.cumsum(lengths)]),
                )
                for lengths in (src, tgt)
            ]
            writer.append(*sides)
        writer.finish({})


def padding(mixture: Mixture, plan: EpochPlan, multiple: int) -> float:
    starts = plan.unit_offsets[:-1]
    sizes = np.diff(plan.unit_offsets)
    real = padded = 0
    for lengths in (mixture.src_lengths, mixture.tgt_lengths):
        ordered = lengths[plan.order].astype(np.int64) + 1
        width = -(-np.maximum.reduceat(ordered, starts) // multiple) * multiple
        real, padded = real + int(ordered.sum()), padded + int((sizes * width).sum())
    return 1 - real / padded


def measure_plan(mixture: Mixture, options: BatchingOptions) -> dict[str, Any]:
    begin = time.perf_counter()
    plan = plan_epoch(mixture, options, 0)
    seconds = time.perf_counter() - begin
    tokens, units = 0, [unit for update in range(40) for unit in plan.units(update)]
    begin = time.perf_counter()
    for unit in units:
        tokens += make_batch(mixture, unit, options.multiple).num_tokens
    assembly = time.perf_counter() - begin
    return {
        "device_tokens": options.device_tokens,
        "multiple": options.multiple,
        "plan_seconds": round(seconds, 3),
        "updates": plan.num_updates,
        "units_per_update": round((len(plan.unit_offsets) - 1) / plan.num_updates, 2),
        "tokens_per_update": round(float(plan.update_tokens.mean())),
        "padding_share": round(padding(mixture, plan, options.multiple), 4),
        "one_thread_tokens_per_second": round(tokens / assembly),
        "ms_per_unit": round(1000 * assembly / len(units), 2),
    }


def measure_loader(mixture: Mixture, options: BatchingOptions, workers: int) -> dict[str, Any]:
    """From nothing to the first update, and the rate after it, as the trainer would take them."""
    import torch

    loader = Loader(mixture, LoaderOptions(options, workers=workers))
    device = torch.device("cpu")
    begin = time.perf_counter()
    updates = loader.updates(Position())
    list(next(updates).units(device))
    first = time.perf_counter() - begin
    tokens, begin = 0, time.perf_counter()
    for _ in range(150):
        update = next(updates)
        list(update.units(device))
        tokens += update.num_tokens
    seconds = time.perf_counter() - begin
    updates.close()  # type: ignore[attr-defined]
    return {
        "workers": workers,
        "first_update_seconds": round(first, 2),
        "tokens_per_second": round(tokens / seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", type=Path)
    parser.add_argument("--pairs", type=int, default=2_000_000, help="of the generated corpus")
    parser.add_argument("--output", type=Path, default=Path("docs/results/loader.json"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        directories = arguments.data or [Path(scratch) / "corpus"]
        if not arguments.data:
            generate(directories[0], arguments.pairs)
        begin = time.perf_counter()
        mixture = Mixture([Corpus.open(directory) for directory in directories])
        opened = time.perf_counter() - begin
        plans = [
            measure_plan(mixture, BatchingOptions(50_000, device_tokens, multiple))
            for device_tokens in (8_192, 16_384, 65_536)
            for multiple in (4, 8)
        ]
        loaders = [
            measure_loader(mixture, BatchingOptions(50_000, 16_384, 4), workers)
            for workers in (1, 2)
        ]
    result = {
        "data": "prepared corpora" if arguments.data else "generated",
        "pairs": mixture.num_pairs,
        "cores": os.cpu_count(),
        "open_seconds": round(opened, 3),
        "plans": plans,
        "loaders": loaders,
    }
    result = {"command": " ".join(["python", *sys.argv]), **result}
    print(json.dumps(result, indent=2))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
