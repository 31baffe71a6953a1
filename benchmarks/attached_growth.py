"""How a head grows with text and time: the same model, more lines, more minutes.

    python benchmarks/attached_growth.py MODEL WORK --development FILE… --lines 10000 30000 90000 \
        --output docs/results/attached_growth.json

WORK is what `sieve attach MODEL -o OUTPUT` keeps in OUTPUT.attach until it is done: sentences that
the model translated. A head is trained on the first lines of them, each time from the start, and
judged on the development lines: sentences wholly in reach of shortlists of --size tokens on
average. CPU seconds are of training alone.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cpu_common import command_by_names
from sieve.bundle.directory import Bundle, open_bundle
from sieve.bundle.weights import float_tensors, model_config
from sieve.data.reading import read_lines
from sieve.engines.native.native_engine import NativeEngine
from sieve.files import write_json
from sieve.tokenize.tokenizer import source_ids
from sieve.train.attach.head import HeadOptions, HeadProgress, train_head
from sieve.train.attach.held_out import HeldOut
from sieve.train.attach.labels import Labels, read_piece, write_piece


def judged_by(bundle: Bundle, paths: list[Path], lines: int, size: int) -> HeldOut:
    """Development lines, translated."""
    engine = NativeEngine.open(bundle, threads=1)
    texts = [line for path in paths for line in list(read_lines(path))[:lines] if line]
    ids = source_ids(bundle.tokenizers().source, texts)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "development.safetensors"
        write_piece(path, engine, ids, None)
        return HeldOut(read_piece(path), size, engine.specials)


def first(pieces: list[Labels], lines: int) -> list[Labels]:
    """As many pieces as have these lines."""
    taken: list[Labels] = []
    while pieces[len(taken) :] and sum(map(len, taken)) < lines:
        taken.append(pieces[len(taken)])
    return taken


def grown(
    bundle: Bundle, pieces: list[Labels], judge: HeldOut, options: HeadOptions
) -> dict[str, Any]:
    """One run: what it reached when."""
    config = replace(model_config(bundle), nvs_head="tied", nvs_detach=True)
    name = "output.weight" if config.tie == "none" else "tgt_embedding.weight"
    embedding = torch.from_numpy(np.array(float_tensors(bundle)[name], np.float32))
    lines, checks = sum(map(len, pieces)), []
    begin = time.process_time()

    def checked(now: HeadProgress) -> None:
        check = {
            "cpu_seconds": round(time.process_time() - begin),
            "passes": round(now.share * options.epochs, 2),
            "loss": round(now.loss, 4),
            "own_recall": round(100 * now.own, 3),
            "in_reach": round(100 * now.reach, 2),
        }
        checks.append(check)
        print(lines, options.seed, check, flush=True)

    train_head(config, embedding, pieces, judge, options, checked)
    return {"lines": lines, "seed": options.seed, "checks": checks}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--development", type=Path, nargs="+", required=True)
    parser.add_argument("--development-lines", type=int, default=500, help="of each file")
    parser.add_argument("--lines", type=int, nargs="+", required=True)
    parser.add_argument("--epochs", type=float, default=6.0)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    bundle = open_bundle(arguments.model)
    judge = judged_by(bundle, arguments.development, arguments.development_lines, arguments.size)
    pieces = [read_piece(path) for path in sorted(arguments.work.glob("0*.safetensors"))]
    options = HeadOptions(minutes=600, epochs=arguments.epochs, size=arguments.size)
    runs = [
        grown(bundle, first(pieces, lines), judge, options) for lines in sorted(arguments.lines)
    ]
    document = {
        "command": command_by_names(),
        "judged": len(judge.labels),
        "size": arguments.size,
        "runs": runs,
    }
    write_json(arguments.output, document)


if __name__ == "__main__":
    main()
