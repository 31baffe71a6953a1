"""Speed and course of a finished training run, from its metrics.jsonl and config.json.

    python benchmarks/run_summary.py RUN --output docs/results/NAME.json

Steady speed is the median over all log intervals from 10 s after the first step; the slowest such
interval stands beside it. Compilation and warm-up are reported apart.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any


def summarise(run: Path) -> dict[str, Any]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    train = [line for line in lines if line["kind"] == "train"]
    late = [line["tokens_per_second"] for line in train if line["seconds"] > 10]
    steady = statistics.median(late)
    shown = train[:: max(1, len(train) // 40)]
    return {
        "run": json.loads((run / "config.json").read_text())["run"],
        "warm_up_seconds": [line["seconds"] for line in lines if line["kind"] == "warm_up"],
        "updates": train[-1]["update"],
        "target_tokens": train[-1]["tokens"],
        "minutes": round(train[-1]["seconds"] / 60, 2),
        "steady_tokens_per_second": steady,
        "slowest_interval_after_10_s": round(min(late) / steady, 3),
        "course": [
            {
                key: line[key]
                for key in ("update", "seconds", "tokens_per_second", "loss", "nvs_loss")
            }
            for line in [*shown, train[-1]]
        ],
        "validation": [line for line in lines if line["kind"] == "validation"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("--device", default="", help="where the run took place, for the record")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    result = {
        "command": " ".join(["python", *sys.argv]),
        "device": args.device,
        **summarise(args.run),
    }
    text = json.dumps(result, indent=1)
    print({key: value for key, value in result.items() if key not in ("course", "run")})
    if args.output:
        args.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
