"""Average checkpoints into one model directory.

A run stands for its best checkpoints by validation perplexity; model directories stand for
themselves. Weights are added in float64.

Examples:
  sieve average run --output model
  sieve average run --best 4 --output model
  sieve average run/checkpoints/update-00010000 run/checkpoints/update-00011000 --output model
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `sieve average`."""
    parser.add_argument(
        "inputs", nargs="+", type=Path, metavar="RUN|MODEL", help="runs or model directories"
    )
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="model directory")
    parser.add_argument(
        "--best", type=int, default=8, metavar="N", help="checkpoints per run (default 8)"
    )


def execute(arguments: argparse.Namespace) -> None:
    """Averages and prints the checkpoints used."""
    from sieve.errors import ConfigError, require

    if arguments.best < 1:
        raise ConfigError(f"--best: got {arguments.best}, expected 1 or more")
    require("torch", "train", "averaging")
    from sieve.train.average import average

    for directory in average(arguments.inputs, arguments.output, arguments.best):
        print(directory)
