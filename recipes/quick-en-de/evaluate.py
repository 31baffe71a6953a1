"""Greedy BLEU and the recall curve of a model's selection head on test sets.

    python recipes/quick-en-de/evaluate.py MODEL --test newstest2019 SRC TGT --output result.json

Recall of unique reference tokens at one threshold for the whole set, for a row of mean set sizes
(add the sizes of a lexicon's curve with --sizes to compare at exactly those), and at fixed λ;
greedy BLEU unrestricted and over the sets of λ; share of outputs that selection leaves unchanged.
`sieve evaluate` measures more; this keeps the form of the published results.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sieve.engines.options import SearchOptions
from sieve.evaluate.measure.comparison import TableOptions, measure
from sieve.evaluate.measure.probes import Probe, batches
from sieve.evaluate.measure.recall import RecallMeter
from sieve.evaluate.measure.sets import ParallelSet, read_pair
from sieve.translate.load import load
from sieve.translate.translator import Translator

SIZES = (250, 500, 1000, 2000, 4000, 8000)
THRESHOLDS = (0.999, 0.99, 0.97, 0.9, 0.8, 0.5)
GREEDY = TableOptions(
    ("none", "nvs:0.99", "nvs:0.9", "nvs:0.5"), SearchOptions(beam_size=1), latency_sentences=0
)


def recall(translator: Translator, one: ParallelSet, sizes: Sequence[float]) -> dict[str, Any]:
    """The head's curve on one test set."""
    engine, targets = translator.engine, {"sentence": one.references}
    probe = Probe.of_text(one.name, translator.tokenizers, one.sources, targets)
    rounded = [round(size) for size in sizes]
    meter = RecallMeter(len(one.sources), engine.vocab_size, THRESHOLDS, rounded)
    for rows, votes in batches(engine, probe.src_ids):
        meter.add(votes.logits, [probe.needed["sentence"][row] for row in rows])
    by_size = zip(meter.sizes, meter.at_sizes(), strict=True)
    return {
        "sentences": len(one.sources),
        "recall_at_size": {str(size): point.recall for size, point in by_size},
        "recall_at_threshold": {
            str(point.threshold): {"recall": point.recall, "size": point.mean_size}
            for point in meter.at_thresholds()
        },
    }


def quality(translator: Translator, one: ParallelSet) -> dict[str, Any]:
    """Greedy BLEU with and without selection, and how many outputs selection changes."""
    rows = measure(translator, "", one, GREEDY)
    scores: dict[str, Any] = {row.selection: row.quality[0].value for row in rows}
    scores["signature"] = rows[0].quality[0].signature
    unchanged = {row.selection: row.identical for row in rows[1:]}
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
    parser.add_argument("--device", default="cpu", help="cpu, or cuda (then in bfloat16)")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    on_gpu = args.device != "cpu"
    translator = load(args.model, device=args.device, precision="bfloat16" if on_gpu else None)
    result: dict[str, Any] = {
        "command": " ".join(["python", *sys.argv]),
        "vocabulary": translator.engine.vocab_size,
        "tests": {},
    }
    for name, src_path, tgt_path in args.test:
        one = read_pair(name, Path(src_path), Path(tgt_path))
        found = recall(translator, one, [*SIZES, *args.sizes])
        if not args.recall_only:
            found |= quality(translator, one)
        result["tests"][name] = found
        print(name, json.dumps(found, indent=1), flush=True)
    if args.output:
        args.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
