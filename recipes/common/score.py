"""BLEU and chrF of a model of both directions, greedy and with a beam: on a GPU, or natively.

    python recipes/common/score.py recipes/en-de/data.toml MODEL TESTS --output scores.json

TESTS holds the test sets that data.toml names; a source gets the tag of the language wanted. A set
with one direction in its name is also read backwards where it is the only one.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pair import Pair, read_pair

from sieve.bundle.directory import open_bundle
from sieve.data.reading import read_lines
from sieve.engines.engine import Engine
from sieve.engines.options import SearchOptions
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.evaluate.measure.quality import bleu, chrf
from sieve.model.checkpoint import load_model
from sieve.selection.selectors import FullVocabulary
from sieve.tokenize.vocabulary import EOS
from sieve.translate.load import load

BATCH = 256
BEAMS = (1, 5)


def open_engine(model: Path) -> Engine[Any]:
    """On a GPU in 16 bits; on a CPU in the form in which the weights are stored."""
    if torch.cuda.is_available():
        return TorchEngine(load_model(model, "cuda"), "bfloat16")
    return load(model).engine


def translate(engine: Engine[Any], ids: Sequence[Any], beam: int) -> list[tuple[int, ...]]:
    """Translations, sorted into batches by length, in input order."""
    tokens: list[tuple[int, ...]] = [()] * len(ids)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    options = SearchOptions(beam_size=beam)
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        found = engine.translate([ids[row] for row in rows], FullVocabulary(), options)
        for row, hypotheses in zip(rows, found, strict=True):
            tokens[row] = hypotheses[0].tokens
    return tokens


def tests(pair: Pair) -> Iterator[tuple[str, tuple[str, str, str], str]]:
    """Name of a set, direction with tag, stem of its files."""
    for name, files in pair.tests.items():
        for direction in pair.directions():
            wanted = "-".join(direction[:2])
            if wanted in files or len(files) == 1:
                yield name, direction, f"{name}.{wanted if wanted in files else files[0]}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pair", type=Path, help="data.toml")
    parser.add_argument("model", type=Path)
    parser.add_argument("tests", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="sentences of a set, for a trial")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    pair = read_pair(args.pair)
    engine = open_engine(args.model)
    tokenizer = open_bundle(args.model).tokenizers().source
    result: dict[str, Any] = {
        "command": " ".join(["python", *sys.argv]),
        "engine": str(engine),
        "scores": [],
    }
    for name, (source, target, tag), stem in tests(pair):
        lines, references = (
            list(islice(read_lines(args.tests / f"{stem}.{x}"), args.limit or None))
            for x in (source, target)
        )
        encoded = tokenizer.encode([f"{tag} {line}" for line in lines])
        ids = [np.array([*line, EOS]) for line in encoded]
        for beam in BEAMS:
            started = time.monotonic()
            found = tokenizer.decode(translate(engine, ids, beam))
            seconds = round(time.monotonic() - started, 2)
            entry = {"test": name, "direction": f"{source}-{target}", "beam": beam}
            for score in (bleu(found, references), chrf(found, references)):
                entry |= {
                    score.name: round(score.value, 2),
                    f"{score.name}_signature": score.signature,
                }
            result["scores"].append({**entry, "seconds": seconds, "sample": found[:3]})
            print(json.dumps(result["scores"][-1], ensure_ascii=False), flush=True)
    if args.output:
        args.output.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
