"""Quality and selection of a finished model on all test sets, native engine.

The model translates one way; its config.json says which. For each set: BLEU and chrF with a beam
of 5 over all words and over those that the model selects by default (threshold, minimum, safety
set), the mean size of the sets, recall of the words of references and of the model's own output,
how many outputs are exactly the same; and, with a lexicon, the same for an alignment lexicon whose
sets are as large. A set with one direction in its name is also read backwards unless it was written
in that direction. What is measured and how is `sieve.evaluate`'s; here are only the choice of
sets and the form of the file.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.recipe import Recipe
from sieve.errors import InputError
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
from sieve.files import write_json
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
        mean = np.mean([len(lexicon.top_k(row, k)) for row in ids])
        low, high = (k, high) if mean <= size else (low, k - 1)
    return low


def selections(translator: Translator, test: ParallelSet) -> dict[str, str]:
    """Ways to select: none, the head, and the lexicon with sets as large as the head's."""
    resources = translator.resources
    names = {"none": NONE}
    if resources.threshold is None:
        return names
    names["nvs"] = str(translator.selector())
    if resources.lexicon is not None:
        probe = Probe.of_text(
            test.name, translator.tokenizers, test.sources, {"reference": test.references}
        )
        head = {"nvs": translator.selector(names["nvs"])}
        size = recalls(translator.engine, probe, head)["nvs"]["reference"].mean_size
        k = matching(resources.lexicon(), list(probe.src_ids), size)
        names["lexicon"] = f"lexicon:{k}"
    return names


def evaluate(translator: Translator, model: str, test: ParallelSet) -> dict[str, Any]:
    """Everything about one test set."""
    names = selections(translator, test)
    options = TableOptions(tuple(names.values()), latency_sentences=0)
    outputs = {
        name: translated(translator, test, name, options, lambda number: None)
        for name in names.values()
    }
    rows = dict(zip(names, rows_of(translator, model, test, outputs, options), strict=True))
    result: dict[str, Any] = {"sentences": len(test.sources), "none": quality(rows["none"])}
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
        sizes = at_sizes(translator, output_probe(translator, test, outputs[NONE]))
        shares = result["nvs"]["recall"]
        result["nvs"]["recall"] = {
            kind: {"at_threshold": shares[kind], **sizes[kind]} for kind in KINDS
        }
    return result


def test_sets(tests: Path, direction: str) -> dict[str, str]:
    """Name of each test set that this direction can use, and the stem of its files."""
    turned = "-".join(reversed(direction.split("-")))
    language = direction.split("-")[0]
    stems = {}
    for name in (turned, direction):  # the model's own direction goes before the other
        for path in sorted(tests.glob(f"*.{name}.{language}")):
            test = path.name.split(".")[0]
            if test not in LEFT_OUT and (name == direction or test not in ONE_WAY):
                stems[test] = f"{test}.{name}"
    return dict(sorted(stems.items()))


@dataclass(frozen=True)
class Evaluation:
    """What is evaluated, and on what."""

    pair: Recipe
    model: Path
    tests: Path
    lexicon: Path | None = None
    """That is compared; None for no comparison, also where the model has one of its own."""
    threads: int = 1
    only: tuple[str, ...] = ()
    """Names of test sets; empty for all."""
    limit: int = 0
    """Sentences of a set, for a trial."""

    def scores(self, command: str) -> dict[str, Any]:
        """The whole file."""
        opened = load(self.model, engine="native", threads=self.threads)
        lexicon = partial(Lexicon.open, self.lexicon) if self.lexicon else None
        translator = replace(opened, resources=replace(opened.resources, lexicon=lexicon))
        direction = "-".join(translator.languages)
        if set(translator.languages) != set(self.pair.languages):
            raise InputError(
                f"{self.model}: translates {direction}, which the recipe of {self.pair.name} "
                "is not about"
            )
        return {
            "command": command,
            "direction": direction,
            "engine": str(translator.engine),
            "vocabulary": translator.engine.vocab_size,
            "bytes": sum(path.stat().st_size for path in self.model.iterdir()),
            "tests": {
                name: evaluate(
                    translator, str(self.model), self._set(name, stem, translator.languages)
                )
                for name, stem in test_sets(self.tests, direction).items()
                if not self.only or name in self.only
            },
        }

    def _set(self, name: str, stem: str, languages: tuple[str, str]) -> ParallelSet:
        files = (self.tests / f"{stem}.{language}" for language in languages)
        return read_files(name, *files).first(self.limit or None)

    def write(self, output: Path, command: str) -> None:
        """The whole stage."""
        write_json(output, self.scores(command))
