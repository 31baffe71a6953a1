"""Greedy BLEU and the recall curve of a model's selection head on test sets.

    python recipes/quick-en-de/evaluate.py MODEL --test newstest2019 SRC TGT --output result.json

Recall of unique reference tokens at one threshold for the whole set, for a row of mean set sizes
(add the sizes of a lexicon's curve with --sizes to compare at exactly those), and at fixed λ;
greedy BLEU unrestricted and over the sets of λ; share of outputs that selection leaves unchanged.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sieve.bundle import open_bundle
from sieve.evaluation.quality import bleu
from sieve.evaluation.recall import RecallMeter
from sieve.inference.options import SearchOptions
from sieve.inference.torch_engine import TorchEngine
from sieve.model.checkpoint import load_model
from sieve.selection.selectors import FullVocabulary, NeuralSelection, Selector
from sieve.text.tokenizer import Tokenizer
from sieve.text.vocabulary import EOS

SIZES = (250, 500, 1000, 2000, 4000, 8000)
BATCH = 256
THRESHOLDS = (0.999, 0.99, 0.97, 0.9, 0.8, 0.5)


def translate(
    engine: TorchEngine, ids: Sequence[Any], selection: Selector
) -> list[tuple[int, ...]]:
    """Greedy translations, sorted into batches by length, in input order."""
    tokens: list[tuple[int, ...]] = [()] * len(ids)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        found = engine.translate([ids[row] for row in rows], selection, SearchOptions(beam_size=1))
        for row, hypotheses in zip(rows, found, strict=True):
            tokens[row] = hypotheses[0].tokens
    return tokens


def recall(
    engine: TorchEngine, target: Tokenizer, ids: Sequence[Any], lines: list[str], sizes: list[float]
) -> dict[str, Any]:
    """The head's curve on one test set; `lines` are the references."""
    meter = RecallMeter(len(ids), engine.vocab_size, THRESHOLDS, [round(size) for size in sizes])
    reference_ids = target.encode(lines)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        logits = engine.bow_logits(engine.encode([ids[row] for row in rows]))
        meter.add(logits, [reference_ids[row] for row in rows])
    by_size = zip(meter.sizes, meter.at_sizes(), strict=True)
    return {
        "sentences": len(ids),
        "recall_at_size": {str(size): point.recall for size, point in by_size},
        "recall_at_threshold": {
            str(point.threshold): {"recall": point.recall, "size": point.mean_size}
            for point in meter.at_thresholds()
        },
    }


def quality(
    engine: TorchEngine, target: Tokenizer, ids: Sequence[Any], lines: list[str]
) -> dict[str, Any]:
    """Greedy BLEU with and without selection, and how many outputs selection changes."""
    full = translate(engine, ids, FullVocabulary())
    score = bleu(target.decode(full), lines)
    scores: dict[str, Any] = {"none": score.value, "signature": score.signature}
    unchanged = {}
    for threshold in (0.99, 0.9, 0.5):
        found = translate(engine, ids, NeuralSelection(threshold))
        scores[f"nvs:{threshold}"] = bleu(target.decode(found), lines).value
        same = sum(a == b for a, b in zip(full, found, strict=True)) / len(full)
        unchanged[f"nvs:{threshold}"] = same
    return {"greedy_bleu": scores, "unchanged": unchanged}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument(
        "--test", nargs=3, action="append", metavar=("NAME", "SRC", "TGT"), required=True
    )
    parser.add_argument("--sizes", type=float, nargs="*", default=[])
    parser.add_argument("--recall-only", action="store_true", help="no translation, no BLEU")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    engine = TorchEngine(
        load_model(args.model, device), "bfloat16" if device == "cuda" else "float32"
    )
    tokenizers = open_bundle(args.model).tokenizers()
    result: dict[str, Any] = {
        "command": " ".join(["python", *sys.argv]),
        "vocabulary": engine.vocab_size,
        "tests": {},
    }
    for name, src_path, tgt_path in args.test:
        sources = Path(src_path).read_text(encoding="utf-8").splitlines()
        references = Path(tgt_path).read_text(encoding="utf-8").splitlines()
        ids = [np.array([*s, EOS]) for s in tokenizers.source.encode(sources)]
        found = recall(engine, tokenizers.target, ids, references, [*SIZES, *args.sizes])
        if not args.recall_only:
            found |= quality(engine, tokenizers.target, ids, references)
        result["tests"][name] = found
        print(name, json.dumps(found, indent=1), flush=True)
    if args.output:
        args.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
