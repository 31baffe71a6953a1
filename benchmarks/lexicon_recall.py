"""Recall of unique reference tokens against mean set size, for top-k lexicons (paper, figure 2).

    python benchmarks/lexicon_recall.py LEXICON … --test SRC TGT --output docs/results/x.json

LEXICON is a directory with tokenizers, or a .safetensors file with --tokenizer DIR.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from sieve.data.reading import read_lines
from sieve.evaluate.measure.recall import recall_of_sets
from sieve.files import write_json
from sieve.selection.lexicon import Lexicon
from sieve.tokenize.tokenizer import Tokenizers, load_tokenizers

TOP = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lexicons", type=Path, nargs="+", metavar="LEXICON")
    parser.add_argument(
        "--test", type=Path, nargs=2, action="append", required=True, metavar=("SRC", "TGT")
    )
    parser.add_argument("--tokenizer", type=Path, metavar="DIR")
    parser.add_argument("--top", type=int, nargs="+", default=TOP, metavar="K")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    curves = []
    for path in arguments.lexicons:
        lexicon = Lexicon.open(path)
        tokenizers = load_tokenizers(arguments.tokenizer or path)
        for source, target in arguments.test:
            curve = measure(lexicon, tokenizers, source, target, arguments.top)
            print(f"\n{path.name} on {curve['test']}: {curve['lexicon']}")
            for point in curve["points"]:
                print(f"  k = {point['k']:<6} {point['recall']:5.1f} at {point['mean_size']:.0f}")
            curves.append(curve)
    if arguments.output:
        command = " ".join(["python", *sys.argv])
        what = __doc__.splitlines()[0]
        write_json(arguments.output, {"command": command, "what": what, "curves": curves})


def measure(
    lexicon: Lexicon, tokenizers: Tokenizers, source: Path, target: Path, top: list[int]
) -> dict[str, Any]:
    src = tokenizers.source.encode(list(read_lines(source)))
    tgt = tokenizers.target.encode(list(read_lines(target)))
    points = []
    for k in top:
        sets = (lexicon.top_k(ids, k) for ids in src)
        found = recall_of_sets(sets, tgt, lexicon.tgt_vocab_size)
        points.append(
            {
                "k": k,
                "recall": round(100 * found.recall, 2),
                "mean_size": round(found.mean_size, 1),
            }
        )
    return {
        "lexicon": lexicon.info.get("signature", ""),
        "entries": len(lexicon.targets),
        "test": source.stem,
        "sentences": len(src),
        "vocab_size": lexicon.tgt_vocab_size,
        "points": points,
    }


if __name__ == "__main__":
    main()
