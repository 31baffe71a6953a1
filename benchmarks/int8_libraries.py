"""int8 products of a decoder step: our kernels beside what libraries offer, on one thread.

    python benchmarks/int8_libraries.py --output docs/results/int8_libraries.json

Dynamic quantisation of the rows included on both sides. torch's engines are FBGEMM and oneDNN.
Median over many calls of CPU time in microseconds, the sides taking turns; weights stay in cache.
"""

import argparse
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sieve import _native
from sieve.bundle.quantization import pack

SHAPES = [(5, 256, 1536), (5, 1536, 256), (5, 256, 256), (5, 256, 1024), (30, 256, 1536),
          (30, 512, 2048), (5, 512, 2048), (30, 256, 32000)]  # fmt: skip


def sides(rows: int, depth: int, channels: int) -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((channels, depth), dtype=np.float32)
    x = rng.standard_normal((rows, depth), dtype=np.float32)
    packed, _ = pack(w)
    best = _native.available_kernels()[0]
    found: dict[str, Callable[[], Any]] = {
        f"sieve {best}": lambda: _native.int8_product(x, packed, best)
    }
    rows_of_torch = torch.from_numpy(x)
    for engine in torch.backends.quantized.supported_engines:
        if engine not in ("fbgemm", "onednn"):
            continue
        torch.backends.quantized.engine = engine
        linear = torch.nn.Sequential(torch.nn.Linear(depth, channels, bias=False))
        with torch.no_grad():
            linear[0].weight.copy_(torch.from_numpy(w))
        quantized = torch.ao.quantization.quantize_dynamic(linear, dtype=torch.qint8)
        found[f"torch {engine}"] = lambda q=quantized: q(rows_of_torch)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # torch announces the end of eager quantisation
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    result: dict[str, Any] = {"command": " ".join(["python", *sys.argv]), "shapes": []}
    for rows, depth, channels in SHAPES:
        functions = sides(rows, depth, channels)
        times: dict[str, list[float]] = {name: [] for name in functions}
        for _ in range(args.repeats):
            for name, function in functions.items():
                begin = time.thread_time()
                function()
                times[name].append((time.thread_time() - begin) * 1e6)
        row = {name: round(statistics.median(values), 1) for name, values in times.items()}
        print(f"{rows:3d} x {depth:4d} x {channels:5d}", row, flush=True)
        result["shapes"].append(
            {"rows": rows, "depth": depth, "channels": channels, "microseconds": row}
        )
    if args.output:
        args.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
