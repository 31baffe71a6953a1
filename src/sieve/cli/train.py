"""Train a translation model with neural vocabulary selection on prepared corpora.

A run has a directory of its own. A stopped or killed run resumes when the command is rerun;
`sieve train --output RUN` alone is enough. The final weights are in RUN/model, the best
checkpoints in RUN/checkpoints, the metrics in RUN/metrics.jsonl.

Examples:
  sieve train --data corpus --valid dev.en dev.de --output run --preset tiny --max-updates 20000
  sieve train --config run.toml --output run --max-minutes 10
  sieve train --config run.toml --output run --set model.dropout=0.2 --set training.device=cuda
  torchrun --nproc-per-node 8 -m sieve.cli train --config run.toml --output run
"""

import argparse
from pathlib import Path
from typing import Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `sieve train`; everything else is a --set away."""
    parser.add_argument("--config", type=Path, metavar="TOML", help="[model], [data], [training]")
    parser.add_argument(
        "--data", nargs="+", metavar="DIR", help="prepared corpora, with one tokenizer"
    )
    parser.add_argument("--valid", nargs=2, metavar=("SRC", "TGT"), help="validation text files")
    parser.add_argument("--output", type=Path, required=True, metavar="RUN", help="run directory")
    parser.add_argument("--preset", help="model dimensions: tiny, base or paper (default base)")
    parser.add_argument("--max-updates", type=int, metavar="N", help="stop after N updates")
    parser.add_argument(
        "--max-minutes",
        type=float,
        metavar="M",
        help="stop after M minutes from the first step (compilation not counted)",
    )
    parser.add_argument(
        "--init-from",
        metavar="DIR",
        help="start from a model directory's weights, with a fresh optimizer and short warm-up",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="any setting, e.g. training.learning_rate=0.0007; repeatable",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve train`."""
    from sieve.errors import require

    require("torch", "train", "training")
    from sieve.train.session import train

    leave_if_stopped(train(arguments.output, _given(arguments)), f"--output {arguments.output}")


def leave_if_stopped(stopped: int, where: str) -> None:
    """Ends the process as a signal would have, with a line on how to resume."""
    if stopped:
        from sieve.log import logger

        logger.info("stopped after a checkpoint; rerun the command (%s) to resume", where)
        raise SystemExit(128 + stopped)


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The explicit settings: file, then options, then --set."""
    from sieve.config import read_toml, with_overrides

    values = read_toml(arguments.config) if arguments.config else {}
    options = {
        ("data", "train"): arguments.data,
        ("model", "preset"): arguments.preset,
        ("training", "max_updates"): arguments.max_updates,
        ("training", "max_minutes"): arguments.max_minutes,
    }
    if arguments.valid:
        options |= {
            ("data", "valid_src"): arguments.valid[0],
            ("data", "valid_tgt"): arguments.valid[1],
        }
    for (section, key), value in options.items():
        if value is not None:
            values.setdefault(section, {})[key] = value
    if arguments.init_from:
        values["init_from"] = arguments.init_from
    return with_overrides(values, arguments.set)
