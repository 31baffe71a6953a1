"""BLEU and chrF of a model of both directions, greedy and with a beam: on a GPU, or natively.

Of the test sets that the recipe names; a source gets the tag of the language wanted. A set
with one direction in its name is also read backwards where it is the only one.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pipeline.recipe import Recipe
from sieve.bundle.directory import open_bundle
from sieve.data.reading import read_lines
from sieve.engines.engine import Engine
from sieve.engines.options import SearchOptions
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.evaluate.measure.quality import bleu, chrf
from sieve.files import write_json
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
        outputs = engine.translate([ids[row] for row in rows], FullVocabulary(), options)
        for row, hypotheses in zip(rows, outputs, strict=True):
            tokens[row] = hypotheses[0].tokens
    return tokens


def tests(pair: Recipe) -> Iterator[tuple[str, tuple[str, str, str], str]]:
    """Name of a set, direction with tag, stem of its files."""
    for name, files in pair.tests.items():
        for direction in pair.directions():
            wanted = "-".join(direction[:2])
            if wanted in files or len(files) == 1:
                yield name, direction, f"{name}.{wanted if wanted in files else files[0]}"


def score_teacher(pair: Recipe, model: Path, folder: Path, output: Path, command: str) -> None:
    """The whole stage."""
    engine = open_engine(model)
    tokenizer = open_bundle(model).tokenizers().source
    scores = []
    for name, (source, target, tag), stem in tests(pair):
        lines, references = (list(read_lines(folder / f"{stem}.{x}")) for x in (source, target))
        encoded = tokenizer.encode([f"{tag} {line}" for line in lines])
        ids = [np.array([*line, EOS]) for line in encoded]
        for beam in BEAMS:
            started = time.monotonic()
            outputs = tokenizer.decode(translate(engine, ids, beam))
            seconds = round(time.monotonic() - started, 2)
            entry: dict[str, Any] = {"test": name, "direction": f"{source}-{target}", "beam": beam}
            for score in (bleu(outputs, references), chrf(outputs, references)):
                entry[score.name] = round(score.value, 2)
                entry[f"{score.name}_signature"] = score.signature
            scores.append({**entry, "seconds": seconds, "sample": outputs[:3]})
    write_json(output, {"command": command, "engine": str(engine), "scores": scores})
