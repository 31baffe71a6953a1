"""Stage 7, evaluate: quality and selection of a finished model on all test sets, native engine.

    python recipes/common/evaluate.py recipes/en-de/data.toml MODEL DATA/test --output scores.json

MODEL translates one way; its config.json says which. For each set: BLEU and chrF with a beam of 5
over all words and over those that the model selects by default (threshold, words at least, safety
set), the mean size of the sets, recall of the words of references and of the model's own output,
how many outputs are exactly the same; and, with --lexicon, the same for an alignment lexicon whose
sets are as large. A set with one direction in its name is also read backwards unless it was written
in that direction. What is measured and how is `sieve.evaluate`'s; here are only the choice of
sets and the form of the file.
"""

import argparse
import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pair import read_pair

from sieve.evaluate.measure.comparison import (
    NONE,
    Row,
    TableOptions,
    output_probe,
    rows_of,
    translated,
)
from sieve.evaluate.measure.probes import Probe, batches, recalls
from sieve.evaluate.measure.recall import RecallMeter
from sieve.evaluate.measure.sets import ParallelSet
from sieve.evaluate.measure.sets import read_pair as read_files
from sieve.selection.lexicon import Lexicon
from sieve.tokenize.vocabulary import IntArray
from sieve.translate.load import load
from sieve.translate.translator import Translator

ONE_WAY = ("newstest2019", "itds_idiom_test_detok", "wikiquote_idiomatic", "wikiquote_literal")
LEFT_OUT = ("itds_idiom_test", "itds_idiom_trainplus")  # tokenised, or there to adapt to
SIZES = (500, 1000, 2000)
KINDS = {"reference": "reference", "own": "output"}
"""Whose words are looked for: as this file says it, and as the evaluation does."""


def quality(row: Row) -> dict[str, Any]:
    """BLEU and chrF."""
    values: dict[str, Any] = {score.name: round(score.value, 2) for score in row.quality}
    return {**values, "signatures": [score.signature for score in row.quality]}


def percent(share: float) -> float:
    return round(100 * share, 2)


def at_sizes(translator: Translator, probe: Probe) -> dict[str, dict[str, float]]:
    """Recall of the head for each kind of wanted words, at given mean sizes."""
    engine = translator.engine
    meters = {kind: RecallMeter(len(probe.src_ids), engine.vocab_size, (), SIZES) for kind in KINDS}
    for rows, votes in batches(engine, probe.src_ids):
        for kind, scope in KINDS.items():
            meters[kind].add(votes.logits, [probe.needed[scope][row] for row in rows])
    return {
        kind: {
            str(size): percent(point.recall)
            for size, point in zip(SIZES, meter.at_sizes(), strict=True)
        }
        for kind, meter in meters.items()
    }


def matching(lexicon: Lexicon, ids: list[IntArray], size: float) -> int:
    """The largest k whose sets hold at most `size` words on average, at least 1."""
    low, high = 1, 10_000
    while low < high:
        k = (low + high + 1) // 2
        mean = np.mean([len(lexicon.top_k(one, k)) for one in ids])
        low, high = (k, high) if mean <= size else (low, k - 1)
    return low


def chosen(translator: Translator, one: ParallelSet) -> dict[str, str]:
    """Ways to select: none, the head, and the lexicon with sets as large as the head's."""
    resources = translator.resources
    names = {"none": NONE}
    if resources.threshold is None:
        return names
    names["nvs"] = str(translator.selector())
    if resources.lexicon is not None:
        probe = Probe.of_text(
            one.name, translator.tokenizers, one.sources, {"reference": one.references}
        )
        head = {"nvs": translator.selector(names["nvs"])}
        size = recalls(translator.engine, probe, head)["nvs"]["reference"].mean_size
        k = matching(resources.lexicon(), list(probe.src_ids), size)
        names["lexicon"] = f"lexicon:{k}"
    return names


def evaluate(translator: Translator, model: str, one: ParallelSet) -> dict[str, Any]:
    """Everything about one test set."""
    names = chosen(translator, one)
    options = TableOptions(tuple(names.values()), latency_sentences=0)
    found = {
        name: translated(translator, one, name, options, lambda number: None)
        for name in names.values()
    }
    rows = dict(zip(names, rows_of(translator, model, one, found, options), strict=True))
    result: dict[str, Any] = {"sentences": len(one.sources), "none": quality(rows["none"])}
    for kind, row in rows.items():
        if kind == "none":
            continue
        shares = {"reference": percent(row.reference.recall), "own": percent(row.output.recall)}
        k = {"k": int(names[kind].partition(":")[2])} if kind == "lexicon" else {}
        result[kind] = {
            "selection": names[kind],
            **({"threshold": translator.resources.threshold} if kind == "nvs" else k),
            **quality(row),
            "mean_size": round(row.reference.mean_size, 1),
            "unchanged": percent(row.identical),
            "recall": shares,
        }
    if "nvs" in result:
        sizes = at_sizes(translator, output_probe(translator, one, found[NONE]))
        shares = result["nvs"]["recall"]
        result["nvs"]["recall"] = {
            kind: {"at_threshold": shares[kind], **sizes[kind]} for kind in KINDS
        }
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
    translator = load(args.model, engine="native", threads=args.threads)
    # the lexicon that is compared is the one given, or none
    own = partial(Lexicon.open, args.lexicon) if args.lexicon else None
    translator.resources = replace(translator.resources, lexicon=own)
    languages = translator.languages
    direction = "-".join(languages)
    if set(languages) != set(read_pair(args.pair).languages):
        raise SystemExit(f"{args.model}: translates {direction}, which {args.pair} is not about")
    result: dict[str, Any] = {
        "command": " ".join(["python", *sys.argv]),
        "direction": direction,
        "engine": str(translator.engine),
        "vocabulary": translator.engine.vocab_size,
        "bytes": sum(path.stat().st_size for path in args.model.iterdir()),
        "tests": {},
    }
    for name, stem in test_sets(args.tests, direction).items():
        if args.only and name not in args.only:
            continue
        files = (args.tests / f"{stem}.{language}" for language in languages)
        one = read_files(name, *files).first(args.limit or None)
        result["tests"][name] = evaluate(translator, str(args.model), one)
        print(name, json.dumps(result["tests"][name]), flush=True)
    if args.output:
        args.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
