"""Speed of `sieve train` itself, loop and loader included, on generated ids of a real shape.

    python benchmarks/train_speed.py --minutes 1 --output docs/results/train_speed.json

Two million pairs with the lengths of real text and Zipf-distributed ids over 32k words; nothing is
learned from them, the arithmetic is that of real data. Every interval of metrics.jsonl is in the
result: seconds since the first step, tokens per second. Steady speed is the median from 10 s on.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sieve import log
from sieve.config import with_overrides
from sieve.data.corpus import Ragged
from sieve.data.pair_sources import MemoryPairs, Mixture
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import EOS
from sieve.train.session import train
from sieve.train.setup import TrainingData, target_frequency

V = 32000


class Numbers:
    """A tokenizer without text: its pieces are numbers."""

    vocab_size = V
    fingerprint = "numbers"

    def save(self, directory: Path, stem: str) -> dict[str, Any]:
        """Nothing to write: the model is thrown away."""
        return {"kind": "numbers"}


class GeneratedPairs(MemoryPairs):
    """Pairs of random ids."""

    def __init__(self, pairs: int) -> None:
        rng = np.random.default_rng(0)
        src = np.clip(rng.gamma(1.6, 15.0, pairs), 1, 99).astype(np.int64)
        tgt = np.clip(src * rng.normal(1.1, 0.15, pairs), 1, 99).astype(np.int64)
        weights = 1.0 / np.arange(10, V - 4 + 10)
        edges = np.cumsum(weights / weights.sum())
        sides = []
        for lengths in (src, tgt):
            ids = 4 + np.searchsorted(edges, rng.random(int(lengths.sum()), np.float32))
            ids = np.minimum(ids, V - 1).astype(np.int32)
            sides.append(Ragged(ids, np.concatenate([[0], np.cumsum(lengths)])))
        self._src, self._tgt = sides
        self.src_lengths, self.tgt_lengths = src, tgt


def measure(data: TrainingData, settings: dict[str, Any], run: Path) -> dict[str, Any]:
    train(run, settings, data)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    timeline = [(x["seconds"], x["tokens_per_second"]) for x in lines if x["kind"] == "train"]
    steady = statistics.median([speed for seconds, speed in timeline if seconds >= 10])
    late = [speed for seconds, speed in timeline if seconds >= 10]
    result: dict[str, Any] = {
        "settings": {key: settings[key] for key in ("model", "training")},
        "warm_up_seconds": [x["seconds"] for x in lines if x["kind"] == "warm_up"],
        "steady_tokens_per_second": steady,
        "slowest_after_10_s": min(late) / steady,
        "first_loss": next(x["loss"] for x in lines if x["kind"] == "train"),
        "timeline": timeline,
    }
    if torch.cuda.is_available():
        result["device"] = torch.cuda.get_device_name()
        result["peak_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 1)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--pairs", type=int, default=2_000_000)
    parser.add_argument("--preset", default="base")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE")
    parser.add_argument("--output", type=Path, default=Path("docs/results/train_speed.json"))
    arguments = parser.parse_args()
    log.configure()
    tokenizer = Numbers()
    pairs = GeneratedPairs(arguments.pairs)
    data = TrainingData(
        Mixture([pairs]),
        Tokenizers(tokenizer, tokenizer),  # type: ignore[arg-type]
        ("xx", "yy"),
        target_frequency(pairs, V, EOS),
    )
    training = {"batch_tokens": 50000, "device_tokens": 64000, "precision": "bf16"}
    course = {"max_minutes": arguments.minutes, "log_every": 20, "checkpoint_every": 10**9}
    settings = {
        "model": {"preset": arguments.preset},
        "training": {**training, **course, "compile": True, "schedule": "linear"},
    }
    with tempfile.TemporaryDirectory() as scratch:
        result = measure(data, with_overrides(settings, arguments.set), Path(scratch) / "run")
    print(json.dumps({k: v for k, v in result.items() if k != "timeline"}, indent=2))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
