"""The SSRU scan against the step loop it replaces, forward and backward, on this machine.

python benchmarks/ssru_scan.py --output docs/results/ssru_scan.json
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from sieve.model.recurrence import linear_recurrence

SHAPES = [(64, 32, 256), (64, 32, 512), (16, 100, 512), (1500, 32, 512)]


def loop(gates: Tensor, values: Tensor) -> Tensor:
    c = torch.zeros_like(values[:, 0])
    states = []
    for t in range(values.shape[1]):
        c = gates[:, t] * c + values[:, t]
        states.append(c)
    return torch.stack(states, dim=1)


def scan(gates: Tensor, values: Tensor) -> Tensor:
    return linear_recurrence(gates, values, False)


def seconds(function: Callable[[Tensor, Tensor], Tensor], gates: Tensor, values: Tensor) -> float:
    begin = time.perf_counter()
    function(gates, values).sum().backward()
    if gates.is_cuda:
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--repeats", type=int, default=9)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows = []
    for shape in SHAPES if device == "cuda" else SHAPES[:-1]:
        gates = torch.rand(shape, device=device, requires_grad=True)
        values = torch.randn(shape, device=device, requires_grad=True)
        difference = (loop(gates, values) - scan(gates, values)).abs().max().item()
        times: dict[str, list[float]] = {"loop": [], "scan": []}
        for repeat in range(args.repeats + 2):  # interleaved; the first two warm up
            for name, function in (("loop", loop), ("scan", scan)):
                elapsed = seconds(function, gates, values)
                if repeat >= 2:
                    times[name].append(elapsed * 1000)
        medians = {name: statistics.median(values_) for name, values_ in times.items()}
        rows.append(
            {
                "shape_BUD": shape,
                "loop_ms": round(medians["loop"], 3),
                "scan_ms": round(medians["scan"], 3),
                "ratio": round(medians["loop"] / medians["scan"], 2),
                "max_difference": difference,
            }
        )
        print(rows[-1], flush=True)
    result = {
        "command": " ".join(["python", *sys.argv]),
        "device": device,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "rows": rows,
    }
    if args.output:
        args.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
