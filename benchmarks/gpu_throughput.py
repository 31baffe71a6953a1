"""Throughput on a GPU: batches of 16k source tokens, ours with and without selection, and peers.

    PYTHONPATH=src python benchmarks/gpu_throughput.py --output docs/results/gpu_throughput.json

Random weights, `base`, fp16, beam 5, 32 source and 32 target tokens (EOS cannot win), 512 sentences
a batch. Each sentence has its own set of about 1000 words, read by id; `nvs_masked` computes all
logits and sets those of other words to −inf.
The peer is Hugging Face `generate` on the same batch. --quick runs a small version on a CPU.
"""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gpu_common import (
    DEVICE,
    HALF,
    Forced,
    Report,
    Turns,
    agreement,
    build,
    generate,
    hugging_face,
    sentences,
    summary,
    threshold_for,
    timed,
)
from sieve.bundle.config import ModelConfig, resolve
from sieve.engines.torch.captured import Captured
from sieve.engines.torch.captured_source import choice_of
from sieve.engines.torch.search import run_checked
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.selection.plan import Selector
from sieve.selection.selectors import FullVocabulary, NeuralSelection


class Masked(Captured):
    """Never gathers: all logits are computed and those of other words masked."""

    def _width(self, size: int) -> int:
        return -1


def throughput(
    engine: TorchEngine, selection: Selector, args: argparse.Namespace
) -> dict[str, Any]:
    """Whole calls with a new batch each time."""
    number = args.batch_tokens // args.tokens
    options = Forced(5, length=args.length)
    times, sizes = [], []
    batches = [
        sentences(number, args.tokens, args.words, seed=index + 10) for index in range(args.repeats)
    ]
    for source in batches:  # captures what any of them needs
        engine.translate(source, selection, options)
    with args.turns.alone():
        for source in batches:
            found, spent = timed(engine.translate, source, selection, options)
            assert all(len(one[0].tokens) == args.length for one in found)
            times.append(spent)
            sizes += [one[0].shortlist_size for one in found]
    some = batches[-1][:32]
    return rates(times, number, args) | {
        "agreement": agreement(engine, found[:32], some, selection, options),
        "mean_set": round(float(np.mean(sizes)), 1),
        "largest_set": max(sizes),
        "peak_gib": peak(),
    }


def rates(times: list[float], number: int, args: argparse.Namespace) -> dict[str, Any]:
    seconds = float(np.median(times)) / 1000
    return summary(times) | {
        "sentences_per_s": round(number / seconds, 1),
        "target_tokens_per_s": round(number * args.length / seconds),
    }


def peak() -> float:
    return round(torch.cuda.max_memory_allocated() / 2**30, 2) if DEVICE == "cuda" else 0.0


def breakdown(
    engine: TorchEngine, selection: Selector, args: argparse.Namespace
) -> dict[str, float]:
    """Medians of the parts of a batch, in milliseconds."""
    captured = engine.captured
    assert captured is not None
    plan = selection.plan()
    options = Forced(5, length=args.length)
    parts: dict[str, list[float]] = {"encode": [], "start": [], "steps": [], "results": []}
    number = args.batch_tokens // args.tokens
    with args.turns.alone(), engine.inference():
        for index in range(4):
            source = sentences(number, args.tokens, args.words, seed=index + 10)
            encoding, encode = timed(
                captured.encode, source, choice_of(plan, source, engine.specials.eos)
            )
            limits = [args.length] * number
            searching, start = timed(captured.start, encoding, limits, options)
            _, steps = timed(
                run_checked, searching.step, searching.steps, args.length, searching.asked
            )
            _, results = timed(captured.results, searching)
            for part, value in zip(parts, (encode, start, steps, results), strict=True):
                parts[part].append(value)
    found = {part: summary(values[1:])["p50"] for part, values in parts.items()}
    return found | {"step": round(found["steps"] / args.length, 4)}


def profile(engine: TorchEngine, selection: Selector, args: argparse.Namespace) -> dict[str, Any]:
    """The busiest kernels of one batch."""
    source = sentences(args.batch_tokens // args.tokens, args.tokens, args.words, seed=10)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as prof:
        engine.translate(source, selection, Forced(5, length=args.length))
        torch.cuda.synchronize()
    events = sorted(prof.key_averages(), key=lambda e: -e.self_device_time_total)
    for event in events[:22]:
        print(f"{event.self_device_time_total:9.1f} us {event.count:5d} x  {event.key[:110]}")
    busy = sum(e.self_device_time_total for e in events) / 1000
    return {"kernels": sum(e.count for e in events), "busy_ms": round(busy, 3)}


def theirs(args: argparse.Namespace, config: ModelConfig, **extra: Any) -> dict[str, Any]:
    """Hugging Face on the same batches."""
    model = hugging_face(config)
    number = args.batch_tokens // args.tokens

    def once(index: int) -> float:
        source = sentences(number, args.tokens, args.words, seed=index + 10)
        ids = torch.from_numpy(np.stack(source)).to(DEVICE)
        found, spent = timed(generate, model, ids, args.length, 5, **extra)
        assert found.shape[1] == args.length + 1, found.shape
        return spent

    once(-1)
    with args.turns.alone():
        times = [once(index) for index in range(args.hf_repeats)]
    return rates(times, number, args)


def measure(args: argparse.Namespace, report: Report) -> list[tuple[str, Any]]:
    """Our own variants."""
    model = build(args.preset, args.words)
    engine = TorchEngine(model, HALF, graphs=True)
    some = sentences(64, args.tokens, args.words, seed=1)
    chosen = NeuralSelection(threshold_for(engine, some, args.set_size))
    masked = TorchEngine(model, HALF, graphs=True)
    with masked.inference():
        masked.captured = Masked(masked.model, masked.words.everything, capture=DEVICE == "cuda")
    runs: list[tuple[str, TorchEngine, Selector]] = [
        ("none", engine, FullVocabulary()),
        ("nvs", engine, chosen),
        ("nvs_masked", masked, chosen),
    ]
    rows = [
        (name, report.part(name, partial(throughput, one, selection, args)))
        for name, one, selection in runs
    ]
    for name, one, selection in runs:
        report.part(f"breakdown_{name}", partial(breakdown, one, selection, args))
    if DEVICE == "cuda" and not args.no_profile:
        for name, one, selection in runs[:2]:
            report.part(f"profile_{name}", partial(profile, one, selection, args))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", default="base")
    parser.add_argument("--words", type=int, default=32000)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--batch-tokens", type=int, default=16384)
    parser.add_argument("--set-size", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--hf-repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a small version, also without GPU")
    parser.add_argument("--no-hf", action="store_true", help="leave Hugging Face out")
    parser.add_argument("--only-hf", action="store_true", help="Hugging Face alone")
    parser.add_argument("--no-profile", action="store_true", help="leave the profiles out")
    parser.add_argument("--lock", type=Path, help="file by which benchmarks take turns")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    if args.quick:
        args.preset, args.words, args.batch_tokens, args.set_size = "tiny", 2000, 128, 300
        args.repeats, args.hf_repeats, args.length = 2, 1, 8
    args.turns = Turns(args.lock)
    report = Report(args.output)
    rows = [] if args.only_hf else measure(args, report)
    if not args.no_hf:
        config = resolve(args.preset, {"src_vocab_size": args.words, "tgt_vocab_size": args.words})
        found = report.part("hugging_face", partial(theirs, args, config))
        rows.append(("hugging face", found))
    print(f"\n{'':<20}{'ms a batch':>12}{'sentences/s':>14}{'tokens/s':>12}{'x theirs':>10}")
    peer = rows[-1][1] if not args.no_hf else None
    for name, row in rows:
        if row:
            ratio = row["sentences_per_s"] / peer["sentences_per_s"] if peer else float("nan")
            print(
                f"{name:<20}{row['p50']:>12.2f}{row['sentences_per_s']:>14.1f}"
                f"{row['target_tokens_per_s']:>12d}{ratio:>10.2f}"
            )


if __name__ == "__main__":
    main()
