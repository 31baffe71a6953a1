"""What int8 costs: BLEU, sets and recall of the native engine in int8 and fp32, and in torch.

    python benchmarks/int8_quality.py MODEL INT8_MODEL --test SRC TGT --output RESULT.json

MODEL holds floats, INT8_MODEL what `sieve convert --int8` made of it. Beam 5 over the sets of
--threshold, and greedy over all words; recall of unique reference tokens in the sets.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from sieve.bundle.directory import open_bundle
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.evaluate.measure.quality import bleu
from sieve.selection.selectors import FullVocabulary, NeuralSelection, log_odds
from sieve.tokenize.vocabulary import EOS


def measure(directory: Path, args: argparse.Namespace) -> dict[str, Any]:
    bundle = open_bundle(directory)
    engine, tokenizers = NativeEngine.open(bundle), bundle.tokenizers()
    sources, references = (
        path.read_text(encoding="utf-8").splitlines()[: args.sentences] for path in args.test
    )
    ids = [np.array([*row, EOS]) for row in tokenizers.source.encode(sources)]
    needed = [np.unique(row) for row in tokenizers.target.encode(references)]
    sets = engine.bow_logits(engine.encode(ids)) > log_odds(args.threshold)
    hits = sum(int(row[words].sum()) for row, words in zip(sets, needed, strict=True))
    found: dict[str, Any] = {
        "engine": str(engine),
        "mean_set": round(float(sets.sum(axis=1).mean()), 2),
        "recall": round(100 * hits / sum(map(len, needed)), 3),
    }
    for name, selection, beam in (
        (f"nvs:{args.threshold:g}, beam 5", NeuralSelection(args.threshold), 5),
        ("none, greedy", FullVocabulary(), 1),
    ):
        tokens = [one[0].tokens for one in engine.translate(ids, selection, SearchOptions(beam))]
        score = bleu(tokenizers.target.decode(tokens), references)
        found[name] = {"bleu": score.value, "signature": score.signature}
        print(directory, name, score.value, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", type=Path, nargs=2, metavar="MODEL")
    parser.add_argument("--test", type=Path, nargs=2, metavar=("SRC", "TGT"), required=True)
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    result: dict[str, Any] = {"command": " ".join(["python", *sys.argv])}
    for name, directory in zip(("float32", "int8"), args.models, strict=True):
        result[name] = measure(directory, args)
        print(name, json.dumps(result[name]), flush=True)
    if args.output:
        args.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
