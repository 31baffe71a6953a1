"""Where the time of a training step goes, part by part, on one GPU.

    PYTHONPATH=src python benchmarks/model_speed.py --preset base --output FILE.json

Random ids at a fixed length, bf16 autocast; every part timed with CUDA events, median of repeats,
plain and compiled. A Triton-against-doubling check of the recurrence comes first.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F

from sieve.bundle.config import resolve
from sieve.kernels.dispatch import load
from sieve.model.recurrence import _doubling
from sieve.model.transformer import TranslationModel


def timed(function: Callable[[], object], repeats: int = 10) -> float:
    """Median milliseconds of a call, after three warm-up calls."""
    for _ in range(3):
        function()
    times = []
    for _ in range(repeats):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        function()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def check_recurrence() -> float:
    gates = torch.rand(7, 33, 130, device="cuda")
    values = torch.randn(7, 33, 130, device="cuda")
    kernels = load("recurrence")
    assert kernels is not None
    return max(
        (kernels.run(gates, values, r) - _doubling(gates, values, r)).abs().max().item()
        for r in (False, True)
    )


def cross_entropy(
    states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, targets: torch.Tensor
) -> torch.Tensor:
    logits = F.linear(states, weight, bias)
    return F.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        ignore_index=0,
        label_smoothing=0.1,
        reduction="sum",
    )


def bow_loss(z: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(z, dtype=torch.bool).scatter_(1, targets, True)
    y[:, 0] = False
    n = y.sum(1)
    loss = torch.where(y, 1000.0 * F.softplus(-z), F.softplus(z)).sum(1)
    return (loss / (z.shape[1] + 999.0 * n)).sum()


def measure(
    model: TranslationModel, batch: int, length: int, compiled: bool, profile: bool
) -> dict[str, float]:
    V = model.config.tgt_vocab_size
    src = torch.randint(4, V, (batch, length), device="cuda")
    tgt = torch.randint(4, V, (batch, length), device="cuda")
    src[::3, -3:] = 0
    ce, bow = cross_entropy, bow_loss
    begin = time.perf_counter()
    if compiled:
        model.compile_layers()
        ce = torch.compile(cross_entropy, dynamic=True)
        bow = torch.compile(bow_loss, dynamic=True)

    def autocast() -> torch.autocast:
        return torch.autocast("cuda", torch.bfloat16)

    def encode() -> None:
        with autocast():
            memory, _ = model.encode(src)
        memory.sum().backward()

    with torch.no_grad(), autocast():
        memory, mask = model.encode(src)
        states = model(src, tgt).states.detach()
    memory, states = memory.float(), states.float()

    def decode() -> None:
        with autocast():
            x = model.dropout(model._embed(model.tgt_embedding, tgt, 0))
            out = model.decoder(x, memory.requires_grad_(True), mask)
        out.sum().backward()

    def output() -> None:
        with autocast():
            loss = ce(states.requires_grad_(True), model.output.weight, model.output.bias, tgt)
        loss.backward()

    def select() -> None:
        with autocast():
            loss = bow(model.bow_logits(memory, mask), tgt)
        loss.backward()

    optimizer = torch.optim.Adam(model.parameters(), fused=True)

    def step() -> None:
        with autocast():
            out = model(src, tgt)
            loss = ce(out.states, model.output.weight, model.output.bias, tgt) / tgt.numel()
            loss = loss + bow(model.bow_logits(out.memory, out.src_mask), tgt) / len(tgt)
        loss.backward()
        for group in (model.translation_parameters(), model.nvs_parameters()):
            torch.nn.utils.clip_grad_norm_(group, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    parts = {
        "encoder": encode,
        "decoder": decode,
        "output": output,
        "selection": select,
        "step": step,
    }
    result = {}
    for name, function in parts.items():
        result[name + "_ms"] = round(timed(function), 3)
        model.zero_grad(set_to_none=True)
    if profile:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as prof:
            for _ in range(3):
                step()
            torch.cuda.synchronize()
        print(
            prof.key_averages().table(
                sort_by="cuda_time_total", row_limit=28, max_name_column_width=90
            )
        )
    result["tokens_per_second"] = round(batch * length / result["step_ms"] * 1000)
    result["seconds_with_compilation"] = round(time.perf_counter() - begin, 1)
    result["peak_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 1)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", default="base")
    parser.add_argument("--words", type=int, default=32000)
    parser.add_argument("--tokens", type=int, default=50000)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--profile", action="store_true", help="also print the busiest kernels")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    result: dict[str, object] = {
        "command": " ".join(["python", *sys.argv]),
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "recurrence_max_difference": check_recurrence(),
    }
    for compiled in (False, True):
        torch.manual_seed(0)
        config = resolve(args.preset, {"src_vocab_size": args.words, "tgt_vocab_size": args.words})
        model = TranslationModel(config).cuda().train()
        result["compiled" if compiled else "eager"] = measure(
            model, args.tokens // args.length, args.length, compiled, args.profile
        )
        print(json.dumps(result, indent=2), flush=True)
        torch.cuda.reset_peak_memory_stats()
    if args.output:
        args.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
