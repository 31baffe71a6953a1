"""Stage 7, evaluate: quality and selection of a finished model on all test sets, native engine.

    python recipes/common/evaluate.py recipes/en-de/data.toml MODEL DATA/test --output scores.json

MODEL translates one way; its config.json says which. For each set: BLEU and chrF with a beam of 5
over all words and over those that selection names at the model's threshold, the mean size of the
sets, recall of the words of references and of the model's own output, how many outputs are exactly
the same; and, with --lexicon, the same for an alignment lexicon whose sets are as large. A set with
one direction in its name is also read backwards unless it was written in that direction.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from pair import read_pair

from sieve.bundle import open_bundle
from sieve.evaluation.quality import bleu, chrf
from sieve.evaluation.recall import RecallMeter, recall_of_sets
from sieve.inference.load import selection_resources
from sieve.inference.native_engine import NativeEngine
from sieve.inference.options import SearchOptions
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import FullVocabulary, LexiconTopK, NeuralSelection, Selector
from sieve.text.reading import read_lines
from sieve.text.tokenizer import Tokenizers
from sieve.text.vocabulary import EOS, IntArray

ONE_WAY = ("newstest2019", "itds_idiom_test_detok", "wikiquote_idiomatic", "wikiquote_literal")
LEFT_OUT = ("itds_idiom_test", "itds_idiom_trainplus")  # tokenised, or there to adapt to
SIZES = (500, 1000, 2000)
BATCH = 256
Tokens = list[tuple[int, ...]]


class Model:
    """An engine with its tokenizers, and how it selects."""

    def __init__(self, directory: Path, threads: int) -> None:
        bundle = open_bundle(directory)
        self.languages = bundle.config["languages"]
        self.tokenizers: Tokenizers = bundle.tokenizers()
        self.engine = NativeEngine.open(bundle, threads=threads)
        self.threshold = selection_resources(bundle).threshold

    def sources(self, lines: Sequence[str]) -> list[IntArray]:
        """As the engine takes them."""
        return [np.array([*ids, EOS]) for ids in self.tokenizers.source.encode(list(lines))]

    def translate(self, ids: list[IntArray], selection: Selector) -> tuple[Tokens, float]:
        """Outputs, and the mean size of their sets."""
        tokens: Tokens = []
        sizes = 0
        for start in range(0, len(ids), BATCH):
            batch = ids[start : start + BATCH]
            for [best, *_] in self.engine.translate(batch, selection, SearchOptions()):
                tokens.append(best.tokens)
                sizes += best.shortlist_size
        return tokens, sizes / max(1, len(ids))

    def text(self, tokens: Tokens) -> list[str]:
        """Outputs as text."""
        return self.tokenizers.target.decode([list(one) for one in tokens])


def quality(found: list[str], references: list[str]) -> dict[str, Any]:
    """BLEU and chrF."""
    scores = (bleu(found, references), chrf(found, references))
    values: dict[str, Any] = {score.name: round(score.value, 2) for score in scores}
    return {**values, "signatures": [score.signature for score in scores]}


def percent(share: float) -> float:
    return round(100 * share, 2)


def recalls(model: Model, ids: list[IntArray], wanted: dict[str, list[Any]]) -> dict[str, Any]:
    """Recall of the head for each kind of wanted words, at its threshold and at given sizes."""
    assert model.threshold is not None
    thresholds = (model.threshold,)
    meters = {
        name: RecallMeter(len(ids), model.engine.vocab_size, thresholds, SIZES) for name in wanted
    }
    for start in range(0, len(ids), BATCH):
        rows = slice(start, start + BATCH)
        logits = model.engine.bow_logits(model.engine.encode(ids[rows]))
        for name, meter in meters.items():
            meter.add(logits, wanted[name][rows])
    return {
        name: {
            "at_threshold": percent(meter.at_thresholds()[0].recall),
            **{
                str(size): percent(point.recall)
                for size, point in zip(SIZES, meter.at_sizes(), strict=True)
            },
        }
        for name, meter in meters.items()
    }


def matching(lexicon: Lexicon, ids: list[IntArray], size: float) -> int:
    """The largest k whose sets hold at most `size` words on average, at least 1."""
    low, high = 1, 10_000
    while low < high:
        k = (low + high + 1) // 2
        mean = np.mean([len(lexicon.top_k(one, k)) for one in ids])
        low, high = (k, high) if mean <= size else (low, k - 1)
    return low


def with_lexicon(
    model: Model, lexicon: Lexicon, ids: list[IntArray], size: float, full: Tokens
) -> tuple[dict[str, Any], Tokens]:
    """A lexicon with sets of the same mean size: sizes, unchanged outputs, outputs."""
    k = matching(lexicon, ids, size)
    found, mean = model.translate(ids, LexiconTopK(lexicon, k))
    same = np.mean([a == b for a, b in zip(full, found, strict=True)])
    return {"k": k, "mean_size": round(mean, 1), "unchanged": percent(float(same))}, found


def evaluate(
    model: Model, sources: list[str], references: list[str], lexicon: Lexicon | None
) -> dict[str, Any]:
    """Everything about one test set."""
    ids = model.sources(sources)
    full, _ = model.translate(ids, FullVocabulary())
    result: dict[str, Any] = {"sentences": len(ids), "none": quality(model.text(full), references)}
    if model.threshold is None:
        return result
    found, size = model.translate(ids, NeuralSelection(model.threshold))
    same = np.mean([a == b for a, b in zip(full, found, strict=True)])
    wanted = {"reference": model.tokenizers.target.encode(references), "own": full}
    result["nvs"] = {
        "threshold": model.threshold,
        **quality(model.text(found), references),
        "mean_size": round(size, 1),
        "unchanged": percent(float(same)),
        "recall": recalls(model, ids, wanted),
    }
    if lexicon is not None:
        entry, outputs = with_lexicon(model, lexicon, ids, size, full)
        sets = [lexicon.top_k(one, entry["k"]).ids for one in ids]
        vocabulary = model.engine.vocab_size
        entry["recall"] = {
            name: percent(recall_of_sets(sets, words, vocabulary).recall)
            for name, words in wanted.items()
        }
        result["lexicon"] = {**entry, **quality(model.text(outputs), references)}
    return result


def test_sets(tests: Path, direction: str) -> dict[str, str]:
    """Name of each test set that this direction can use, and the stem of its files."""
    turned = "-".join(reversed(direction.split("-")))
    language = direction.split("-")[0]
    found = {}
    for name in (turned, direction):  # one's own direction goes before the other
        for path in sorted(tests.glob(f"*.{name}.{language}")):
            test = path.name.split(".")[0]
            if test not in LEFT_OUT and (name == direction or test not in ONE_WAY):
                found[test] = f"{test}.{name}"
    return dict(sorted(found.items()))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pair", type=Path, help="data.toml")
    parser.add_argument("model", type=Path)
    parser.add_argument("tests", type=Path)
    parser.add_argument("--lexicon", type=Path, help="directory or file of `sieve lexicon build`")
    parser.add_argument("--only", nargs="*", help="names of test sets")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=int, default=0, help="sentences of a set, for a trial")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    model = Model(args.model, args.threads)
    direction = "-".join(model.languages)
    if set(model.languages) != set(read_pair(args.pair).languages):
        raise SystemExit(f"{args.model}: translates {direction}, which {args.pair} is not about")
    lexicon = Lexicon.open(args.lexicon) if args.lexicon else None
    result: dict[str, Any] = {
        "command": " ".join(["python", *sys.argv]),
        "direction": direction,
        "engine": str(model.engine),
        "vocabulary": model.engine.vocab_size,
        "bytes": sum(path.stat().st_size for path in args.model.iterdir()),
        "tests": {},
    }
    for name, stem in test_sets(args.tests, direction).items():
        if args.only and name not in args.only:
            continue
        sources, references = (
            list(islice(read_lines(args.tests / f"{stem}.{language}"), args.limit or None))
            for language in model.languages
        )
        result["tests"][name] = evaluate(model, sources, references, lexicon)
        print(name, json.dumps(result["tests"][name]), flush=True)
    if args.output:
        args.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
