"""Latency of one sentence on a GPU: ours with and without selection, and Hugging Face `generate`.

    PYTHONPATH=src python benchmarks/gpu_latency.py --output docs/results/gpu_latency.json

Random weights, fp16, batch 1, beam 5, exactly 30 source and 30 target tokens (EOS cannot win). The
threshold is set so that the mean set has about 1000 words. First the captured path is compared with
the eager one; each later part goes on if another fails. --quick runs a small version on a CPU.
"""

import argparse
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

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
    synchronize,
    threshold_for,
    timed,
)
from sieve.bundle.config import ModelConfig, resolve
from sieve.engines.options import SearchOptions
from sieve.engines.torch.captured import Captured
from sieve.engines.torch.captured_source import choice_of
from sieve.engines.torch.search import run_checked
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.selection.plan import Selector
from sieve.selection.selectors import FullVocabulary, NeuralSelection

PARTS = ("check", "latency", "breakdown", "profile", "plain", "hugging_face")
HF_MODES = ("eager", "static", "decoder-compiled", "static-compiled")


def check(number: int, mixers: Sequence[str]) -> dict[str, Any]:
    """Captured against eager: fp32 must agree, fp16 is told."""
    found = {}
    for mixer in mixers:
        model = build("tiny", 4000, decoder_mixer=mixer, tie="none")
        with torch.no_grad():
            model.output.bias[2] = 1.0  # here translations may end
        source = sentences(number, 20, 4000, seed=1) + sentences(number // 3, 11, 4000, seed=2)
        for precision in dict.fromkeys(("float32", HALF)):
            captured = TorchEngine(model, precision, graphs=True)
            eager = TorchEngine(model, precision, graphs=False)
            for name, selection in selections(eager, source, 300).items():
                options = SearchOptions(5, 2, max_length_factor=1.0)
                found_by = captured.translate(source, selection, options)
                found_by[:4] = [  # few rows have kernels of their own
                    captured.translate([ids], selection, options)[0] for ids in source[:4]
                ]
                pair = [found_by, eager.translate(source, selection, options)]
                same = [a[0].tokens == b[0].tokens for a, b in zip(*pair, strict=True)]
                gap = max(abs(a[0].score - b[0].score) for a, b in zip(*pair, strict=True))
                label = f"{mixer}/{precision}/{name}"
                found[label] = {"same": sum(same) / len(same), "score_gap": round(gap, 6)}
                if precision == "float32" and not all(same):
                    print(f"WARNING: {label}: {len(same) - sum(same)} of {len(same)} differ")
    return found


def selections(engine: TorchEngine, source: list[Any], size: int) -> dict[str, Selector]:
    threshold = threshold_for(engine, source[:32], size)
    return {"none": FullVocabulary(), "nvs": NeuralSelection(threshold)}


def latency(engine: TorchEngine, args: argparse.Namespace, length: int) -> dict[str, Any]:
    """Wall-clock times, the two selections in turn."""
    source = sentences(args.repeats, args.tokens, args.words, seed=3)
    options = Forced(5, length=length)
    choices = selections(engine, source, args.set_size)
    times: dict[str, list[float]] = {name: [] for name in choices}
    sizes = []
    for selection in choices.values():
        engine.translate(source[:1], selection, options)
    with args.turns.alone():
        for index in range(-10, args.repeats):
            for name, selection in choices.items():
                ids = [source[index % args.repeats]]
                found, spent = timed(engine.translate, ids, selection, options)
                assert len(found[0][0].tokens) == length, len(found[0][0].tokens)
                if index >= 0:
                    times[name].append(spent)
                    if name == "nvs":
                        sizes.append(found[0][0].shortlist_size)
    result: dict[str, Any] = {name: summary(values) for name, values in times.items()}
    for name, selection in choices.items():
        some = source[:8]
        found = [engine.translate([ids], selection, options)[0] for ids in some]
        result[name] |= {"agreement": agreement(engine, found, some, selection, options)}
    result["mean_set"] = sum(sizes) / len(sizes)
    result["nvs_p90_share"] = round(result["nvs"]["p90"] / result["none"]["p90"], 4)
    return result


def breakdown(engine: TorchEngine, args: argparse.Namespace) -> dict[str, Any]:
    """Where the time goes: medians over sentences, in milliseconds."""
    source = sentences(min(50, args.repeats + 6), args.tokens, args.words, seed=4)
    options = Forced(5, length=args.length)
    result: dict[str, Any] = {}
    captured: Captured = engine.captured  # type: ignore[assignment]
    for name, selection in selections(engine, source, args.set_size).items():
        plan = selection.plan()
        parts: dict[str, list[float]] = {"encode": [], "start": [], "steps": [], "results": []}
        with args.turns.alone(), engine.inference():
            for ids in source:
                encoding, encode = timed(
                    captured.encode, [ids], choice_of(plan, [ids], engine.specials.eos)
                )
                searching, start = timed(captured.start, encoding, [args.length], options)
                _, steps = timed(
                    run_checked, searching.step, searching.steps, args.length, searching.asked
                )
                _, results = timed(captured.results, searching)
                for part, value in zip(parts, (encode, start, steps, results), strict=True):
                    parts[part].append(value)
        result[name] = {part: summary(values[5:])["p50"] for part, values in parts.items()}
        result[name]["step"] = round(result[name]["steps"] / args.length, 5)
    return result


def profile(engine: TorchEngine, args: argparse.Namespace) -> dict[str, Any]:
    """Kernels of one sentence, by time."""
    source = sentences(4, args.tokens, args.words, seed=5)
    options = Forced(5, length=args.length)
    result = {}
    for name, selection in selections(engine, source, args.set_size).items():
        engine.translate(source[:1], selection, options)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as prof:
            engine.translate(source[:1], selection, options)
            synchronize()
        events = sorted(prof.key_averages(), key=lambda e: -e.self_device_time_total)
        print(f"-- {name}: kernels of one sentence")
        for event in events[:30]:
            print(f"{event.self_device_time_total:9.1f} us {event.count:5d} x  {event.key[:110]}")
        result[name] = {
            "kernels": sum(e.count for e in events),
            "busy_ms": round(sum(e.self_device_time_total for e in events) / 1000, 3),
        }
    return result


def theirs(args: argparse.Namespace, config: ModelConfig, mode: str) -> dict[str, Any]:
    """Hugging Face in one of its forms."""
    model = hugging_face(config)
    if mode == "static-compiled":  # static cache, forward compiled with CUDA graphs
        model.forward = torch.compile(model.forward, mode="reduce-overhead", fullgraph=False)
    elif mode == "decoder-compiled":
        model.model.decoder.forward = torch.compile(model.model.decoder.forward, dynamic=True)
        model.model.encoder.forward = torch.compile(model.model.encoder.forward)
    extra = {"cache_implementation": "static"} if mode.startswith("static") else {}
    source = sentences(args.repeats, args.tokens, args.words, seed=3)

    def once(index: int) -> float:
        ids = torch.from_numpy(source[index % args.repeats])[None].to(DEVICE)
        found, spent = timed(generate, model, ids, args.length, 5, **extra)
        assert found.shape[1] == args.length + 1, found.shape
        return spent

    for index in range(args.hf_warmup):
        once(index)
    with args.turns.alone():
        times = [once(index) for index in range(args.hf_repeats)]
    return summary(times)


def measure(args: argparse.Namespace, report: Report) -> Any:
    """Our own parts; returns the latency."""
    model = build(args.preset, args.words)
    engine = TorchEngine(model, HALF, graphs=True)
    ours = None
    if "latency" in args.parts:
        ours = report.part("latency", partial(latency, engine, args, args.length))
    if "breakdown" in args.parts:
        report.part("breakdown", partial(breakdown, engine, args))
    if "profile" in args.parts and DEVICE == "cuda":
        report.part("profile", partial(profile, engine, args))
    if "plain" in args.parts:
        os.environ["SIEVE_TRITON"] = "0"
        plain = TorchEngine(model, HALF, graphs=True)
        report.part("latency_without_triton", partial(latency, plain, args, args.length))
        os.environ.pop("SIEVE_TRITON")
    return ours


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", default="paper")
    parser.add_argument("--words", type=int, default=32000)
    parser.add_argument("--tokens", type=int, default=30)
    parser.add_argument("--length", type=int, default=30)
    parser.add_argument("--set-size", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--hf-repeats", type=int, default=20)
    parser.add_argument("--hf-warmup", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a small version, also without GPU")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--mixers", nargs="*", default=("ssru", "attention"), help="to check")
    parser.add_argument("--hf-modes", nargs="*", choices=HF_MODES, default=HF_MODES)
    parser.add_argument("--lock", type=Path, help="file by which benchmarks take turns")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    if args.quick:
        args.preset, args.words, args.repeats, args.set_size = "tiny", 2000, 3, 300
        args.hf_repeats, args.hf_warmup = 2, 1
    args.turns = Turns(args.lock)
    report = Report(args.output)
    if "check" in args.parts:
        report.part("check", partial(check, 3 if args.quick else 24, args.mixers))
    rows: list[tuple[str, Any]] = []
    ours = None
    if {"latency", "breakdown", "profile", "plain"} & set(args.parts):
        ours = measure(args, report)
        rows += [(f"sieve, {name}", ours and ours[name]) for name in ("none", "nvs")]
    config = resolve(args.preset, {"src_vocab_size": args.words, "tgt_vocab_size": args.words})
    for mode in args.hf_modes if "hugging_face" in args.parts else ():
        if DEVICE == "cuda":
            torch._dynamo.reset()
        found = report.part(f"hugging_face_{mode}", partial(theirs, args, config, mode))
        rows.append((f"hugging face, {mode}", found))
    print(f"\n{'':<34}{'p50 ms':>10}{'p90 ms':>10}{'mean ms':>16}{'x ours':>8}")
    for name, row in rows:
        if row:
            ratio = row["p90"] / ours["none"]["p90"] if ours else float("nan")
            mean = f"{row['mean']:.3f} ± {row['ci95']:.3f}"
            print(f"{name:<34}{row['p50']:>10.3f}{row['p90']:>10.3f}{mean:>16}{ratio:>8.2f}")


if __name__ == "__main__":
    main()
