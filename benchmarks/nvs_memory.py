"""Memory and time of the selection head's pooled projection at 256k words, blockwise and plain.

    python benchmarks/nvs_memory.py --output docs/results/nvs_memory.json

Forward and backward with the weights frozen, as the tied head has them. Peak memory is the GPU's
own count, or on a CPU the growth of the process's resident high-water mark in a fresh process.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import time
from pathlib import Path
from typing import Any

import torch

from sieve.model.pooling import pooled_projection


def plain(x: torch.Tensor, mask: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return (x @ weight.T).masked_fill(~mask[..., None], -torch.inf).amax(dim=1)


def measure(case: dict[str, Any]) -> dict[str, Any]:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    torch.manual_seed(0)
    x = torch.randn(case["B"], case["T"], case["D"], device=device, dtype=dtype, requires_grad=True)
    mask = torch.arange(case["T"], device=device)[None] < torch.randint(
        1, case["T"] + 1, (case["B"], 1), device=device
    )
    weight = torch.randn(case["V"], case["D"], device=device, dtype=dtype)
    function = pooled_projection if case["method"] == "blockwise" else plain
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        function(x, mask, weight).sum().backward()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if device == "cuda":
        peak = torch.cuda.max_memory_allocated()
    return {
        **case,
        "device": device,
        "peak_mib": round((peak - before) / 2**20),
        "ms": round(min(times) * 1000, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    B, T = (256, 32) if torch.cuda.is_available() else (16, 32)
    rows = []
    for words in (32_000, 256_000):
        for method in ("plain", "blockwise"):
            case = {"method": method, "B": B, "T": T, "D": 512, "V": words}
            with multiprocessing.get_context("spawn").Pool(1) as pool:  # a fresh high-water mark
                rows.append(pool.apply(measure, (case,)))
            print(rows[-1], flush=True)
    if args.output:
        result = {
            "command": " ".join(["python", *sys.argv]),
            "torch": torch.__version__,
            "rows": rows,
        }
        args.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
