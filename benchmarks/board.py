"""The latency board: every engine that installs, on the same models, one core; JSON, page, picture.

    make board
    python benchmarks/board.py --quick
    python benchmarks/board.py --only opus

On real models where an engine can run them (a Firefox student, OPUS-MT), else on random weights of
the same dimensions. Writes docs/results/board.json after each model, docs/board.md and
docs/board.svg. A head that `sieve attach` gave the Firefox student takes part with --head DIR.
--quick takes about three minutes once everything is installed, and says little. --only measures one
model, or several, again and keeps what is there of the others. --rendered writes the page of
measurements that are there.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import board_random
import board_real
from board_page import write_page
from board_real import Effort
from cpu_common import command_by_names, machine, note
from sieve.files import write_json

ROOT = Path(__file__).resolve().parents[1]
FULL, QUICK = Effort(500, 1000, 3), Effort(24, 48, 1)
RANDOM = {"256": (120, 1000, 3), "base": (60, 500, 3)}
"""Sentences for latency, for throughput, and rounds of them."""
PARTS = (*board_real.NAMES, *RANDOM)
"""What can be measured apart."""
QUICK_RANDOM = {"256": (8, 0, 0)}


def measured(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Each model with all its engines."""
    core = max(os.sched_getaffinity(0))
    effort = QUICK if arguments.quick else FULL
    if arguments.sentences:
        effort = Effort(arguments.sentences, 2 * arguments.sentences, effort.rounds)
    with tempfile.TemporaryDirectory() as scratch:
        for real in board_real.models(Path(scratch), arguments.head, arguments.only):
            yield board_real.measured(real, core, effort)
    for size, amounts in (QUICK_RANDOM if arguments.quick else RANDOM).items():
        if size in arguments.only:
            yield board_random.measured(size, core, *amounts)


def kept(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """What stays of an earlier run: nothing, unless only some models are measured."""
    if set(arguments.only) == set(PARTS) or not arguments.output.is_file():
        return []
    document = json.loads(arguments.output.read_text(encoding="utf-8"))
    models: list[dict[str, Any]] = document["models"]
    return models


def joined(models: list[dict[str, Any]], model: dict[str, Any]) -> list[dict[str, Any]]:
    """The models with a new measurement of one, in the place of an older one."""
    places = {entry["model"]: entry for entry in models}
    return list({**places, model["model"]: model}.values())


def main() -> None:
    arguments = parse()
    if arguments.rendered:
        write_page(arguments.page, json.loads(arguments.output.read_text(encoding="utf-8")))
        return
    if (load := os.getloadavg()[0]) > 0.5:
        note(f"this machine is busy (load {load:.1f}): wall times will be too long and uneven")
    document: dict[str, Any] = {
        "command": command_by_names(),
        "what": "milliseconds a sentence, one core and one thread, int8 unless said otherwise",
        "machine": machine(),
        "models": kept(arguments),
    }
    for model in measured(arguments):
        document["models"] = joined(document["models"], {"machine": machine(), **model})
        write_json(arguments.output, document)
        write_page(arguments.page, document)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a few sentences")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these models")
    parser.add_argument("--sentences", type=int, default=0, help="fewer lines of the real models")
    parser.add_argument("--head", type=Path, metavar="DIR", help="Firefox en-pt with a head")
    parser.add_argument("--rendered", action="store_true", help="only the page, from the JSON")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "results" / "board.json")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "board.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
