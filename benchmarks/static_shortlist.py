"""What a head loses when `sieve export` distils it into a static shortlist: recall at equal sizes.

    python benchmarks/static_shortlist.py --text news.en --test newstest2019.en-de.en --output FILE

Own tokens are those that the model writes greedily over all tokens. A static shortlist is the union
of the lists of a sentence's tokens; the head selects by one threshold for all sentences, such that
the mean sizes are equal.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from sieve.bundle.directory import open_bundle
from sieve.data.reading import read_lines
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.importers.head_lexicon import DistilOptions, lexicon_of_head
from sieve.importers.opening import model_directory
from sieve.selection.selectors import FullVocabulary
from sieve.tokenize.tokenizer import source_ids
from sieve.translate.load import selection_resources

TOPS = (20, 50, 100, 200, 400)


def shares(own: Sequence[set[int]], sets: Sequence[set[int]]) -> dict[str, float]:
    """Percent of own tokens in the sets, a mean over sentences, and of sentences without a loss."""
    pairs = [(tokens, shortlist) for tokens, shortlist in zip(own, sets, strict=True) if tokens]
    recall = np.mean([len(tokens & shortlist) / len(tokens) for tokens, shortlist in pairs])
    whole = np.mean([tokens <= shortlist for tokens, shortlist in pairs])
    return {"own": round(100 * float(recall), 2), "sentences": round(100 * float(whole), 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="en-de")
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--lines", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=300, help="test lines")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    bundle = open_bundle(model_directory(arguments.model))
    engine, tokenizers = NativeEngine.open(bundle), bundle.tokenizers()
    sizes = (tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    options = DistilOptions(selection_resources(bundle).need_threshold(), max(TOPS))
    test = source_ids(tokenizers.source, list(islice(read_lines(arguments.test), arguments.limit)))
    best = engine.translate(test, FullVocabulary(), SearchOptions(beam_size=1))
    own = [set(hypotheses[0].tokens) for hypotheses in best]
    logits = engine.bow_logits(engine.encode(test))
    ordered = np.sort(logits, axis=None)
    rows: list[dict[str, Any]] = []
    for lines in arguments.lines:
        text = list(islice(read_lines(arguments.text), lines))
        lexicon = lexicon_of_head(engine, source_ids(tokenizers.source, text), sizes, options)
        for top in TOPS:
            static = [set(lexicon.top_k(ids, top).tolist()) for ids in test]
            total = sum(map(len, static))
            head = [set(np.flatnonzero(row > ordered[-total - 1]).tolist()) for row in logits]
            row = {"lines": lines, "top": top, "mean_size": round(total / len(test), 1)}
            rows.append({**row, "static": shares(own, static), "head": shares(own, head)})
            print(json.dumps(rows[-1]), flush=True)
    result = {
        "command": " ".join(["python", "benchmarks/static_shortlist.py", *sys.argv[1:]]),
        "tokens": sizes[1],
        "test_sentences": len(test),
        "rows": rows,
    }
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
