"""Ways to select tokens compared on one frozen model, at equal mean sizes: JSON and a page.

    python benchmarks/fair_comparison.py MODEL --test newstest2019=SRC[,REF]
        --lexicon NAME=DIR --output docs/results/NAME.json --page docs/NAME.md

The model is unaffected by any selection. Each way gives every token of a sentence a number, and one
threshold for the whole set makes the shortlists of all ways equally large on average: the
production shortlist's size where the model brings one, else --size. Lexicons: a token's best rank
(counts) or probability over the sentence's source tokens, and the 50 most frequent tokens always,
as the production shortlist has them. Latency is of real selectors at about that size, one thread,
one sentence at a time, all ways in turn; a ratio is to all tokens in the same round.
"""

import argparse
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import sacrebleu

from attached_ways import (
    BATCH,
    FREQUENT,
    SEARCHES,
    Choice,
    Scores,
    cut,
    head_logits,
    mean_size,
    outputs,
    static_shortlists,
    top_of,
    with_bonus,
)
from cpu_common import command_by_names
from fair_comparison_page import write_page
from sieve.bundle.directory import open_bundle
from sieve.data.reading import read_lines
from sieve.engines.native.native_engine import NativeEngine
from sieve.evaluate.measure.recall import needed_tokens
from sieve.files import write_json
from sieve.log import progress
from sieve.selection.lexicon import Lexicon
from sieve.selection.lexicon_files import own_lexicon
from sieve.selection.plan import Selector
from sieve.selection.selectors import (
    FullVocabulary,
    NeuralSelection,
)
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.tokenizer import source_ids
from sieve.tokenize.vocabulary import IntArray


@dataclass(frozen=True)
class TestSet:
    """Sources, references, and what the model writes over all tokens."""

    src_ids: list[IntArray]
    references: list[str] | None
    needed: list[IntArray]
    """Tokens of each reference."""
    own: dict[str, list[tuple[int, ...]]]
    """By search."""


@dataclass(frozen=True)
class Lexicons:
    """What there is besides the head; each may be absent."""

    production: Lexicon | None
    others: dict[str, Lexicon]
    """Scored by rank or by probability, as each was made."""

    @property
    def first(self) -> Lexicon | None:
        """What stands in for a production shortlist where there is none."""
        return next(iter(self.others.values()), None)


def lexicon_scores(lexicon: Lexicon, src_ids: Sequence[IntArray], by_rank: bool) -> Scores:
    """(N, V): minus the best rank, or the best probability, over a sentence's source tokens."""
    scores = np.full((len(src_ids), lexicon.tgt_vocab_size), -np.inf, np.float32)
    frequent = np.argsort(-lexicon.target_counts.astype(np.int64), kind="stable")[:FREQUENT]
    for row, ids in zip(scores, src_ids, strict=True):
        for index in np.unique(ids).tolist():
            targets, chances = lexicon.row(index)
            # among equal ranks the more probable first
            values = chances - np.arange(1, len(targets) + 1) if by_rank else chances
            row[targets] = np.maximum(row[targets], values.astype(np.float32))
        row[frequent] = np.inf
    return scores


def ways_of(
    engine: NativeEngine, test: TestSet, lexicons: Lexicons, arguments: argparse.Namespace
) -> tuple[float, dict[str, list[Shortlist]]]:
    """The common size, and each way's shortlists of that mean size."""
    eos, ways = engine.config.eos, {}
    size = float(arguments.size)
    logits = head_logits(engine, test.src_ids)
    production = lexicons.production
    if production is not None:
        ways[arguments.shortlist] = static_shortlists(engine, production, test.src_ids)
        size = mean_size(ways[arguments.shortlist])
    for label, lexicon in lexicons.others.items():
        by_rank = lexicon.info.get("by", "count") == "count"
        ways[label] = cut(lexicon_scores(lexicon, test.src_ids, by_rank), size, eos)
    ways["head"] = cut(logits, size, eos)
    other = ways.get(arguments.shortlist)
    if other is None and lexicons.first is not None:
        other = static_shortlists(engine, lexicons.first, test.src_ids)
    if other is not None:
        fused = with_bonus(logits, other, arguments.bonus)
        ways["head + shortlist"] = cut(fused, size, eos)
        ways["head + shortlist, half"] = cut(fused, size / 2, eos)
    return size, ways


def measured(
    engine: NativeEngine, decode: Any, test: TestSet, shortlists: Sequence[Shortlist] | None
) -> dict[str, float]:
    """All that is compared but time, in percent."""
    everything = shortlists is None
    row = {"size": engine.vocab_size if everything else np.mean([len(s) for s in shortlists or ()])}
    for search, own in test.own.items():
        found = own
        if shortlists is not None:
            found = outputs(engine, test.src_ids, _batches_of(shortlists), search)
        row[f"equal, {search}"] = 100 * np.mean([a == b for a, b in zip(found, own, strict=True)])
        if test.references is not None:
            texts = decode([list(tokens) for tokens in found])
            row[f"BLEU, {search}"] = sacrebleu.corpus_bleu(texts, [test.references]).score
            row[f"chrF, {search}"] = sacrebleu.corpus_chrf(texts, [test.references]).score
    specials = engine.specials
    for label, texts in (
        ("own", [needed_tokens(ids, specials) for ids in test.own["greedy"]]),
        ("reference", test.needed),
    ):
        if not texts:
            continue
        inside = (
            [np.ones(1)]
            if shortlists is None
            else [np.isin(ids, s.ids) for ids, s in zip(texts, shortlists, strict=True) if len(ids)]
        )
        row[f"{label} recall"] = 100 * np.mean([hits.mean() for hits in inside])
        row[f"{label} in reach"] = 100 * np.mean([hits.all() for hits in inside])
    return {name: round(float(value), 3) for name, value in row.items()}


def _batches_of(shortlists: Sequence[Shortlist]) -> Choice:
    return lambda at: list(shortlists[at : at + BATCH])


def real_selectors(
    lexicons: Lexicons, engine: NativeEngine, test: TestSet, size: float, shortlist: str
) -> dict[str, Selector]:
    """A selector of each kind whose shortlists have about this mean size."""
    selectors: dict[str, Selector] = {"all tokens": FullVocabulary()}
    if lexicons.production is not None:
        selectors[shortlist] = top_of(lexicons.production, FREQUENT)
    sample = engine.encode(test.src_ids[:256])
    if lexicons.first is not None:
        sizes = {}
        for k in (5, 10, 20, 30, 40, 50, 70, 100, 150, 200):
            selector = top_of(lexicons.first, k)
            sizes[k] = np.mean([len(s) for s in selector.plan().select(sample)])
        k = min(sizes, key=lambda key: abs(sizes[key] - size))
        selectors[next(iter(lexicons.others))] = top_of(lexicons.first, k)
    logits = engine.bow_logits(sample)
    place = int((size - 1) * len(logits))
    odds = np.sort(logits, axis=None)[::-1][place]
    selectors["head"] = NeuralSelection(float(1 / (1 + np.exp(-float(odds)))))
    return selectors


def latency(
    engine: NativeEngine, selectors: dict[str, Selector], test: TestSet, rounds: int, lines: int
) -> dict[str, Any]:
    """Milliseconds a sentence, and the ratio to all tokens, medians and extremes of the rounds."""
    times: dict[str, list[float]] = {name: [] for name in selectors}
    for turn in range(rounds + 1):
        for name, selector in selectors.items():
            begin = time.perf_counter()
            for ids in test.src_ids[:lines]:
                engine.translate([ids], selector, SEARCHES["beam 5"])
            if turn:  # the first one warms up
                times[name].append(1000 * (time.perf_counter() - begin) / lines)
    found = {}
    for name, values in times.items():
        ratios = [own / full for own, full in zip(values, times["all tokens"], strict=True)]
        found[name] = {
            "ms": round(statistics.median(values), 2),
            "ratio": round(statistics.median(ratios), 3),
            "ratios": [round(min(ratios), 3), round(max(ratios), 3)],
        }
    return found


def read_test(engine: NativeEngine, tokenizers: Any, files: str, lines: int) -> TestSet:
    """A test set, and what the model writes for it over all tokens."""
    texts = [list(read_lines(Path(name)))[: lines or None] for name in files.split(",")]
    source, references = texts[0], texts[1] if len(texts) > 1 else None
    src_ids = source_ids(tokenizers.source, source)
    encoded = tokenizers.target.encode(references or [])
    needed = [needed_tokens(ids, engine.specials) for ids in encoded]
    own = {
        search: outputs(engine, src_ids, lambda at: FullVocabulary(), search) for search in SEARCHES
    }
    return TestSet(src_ids, references, needed, own)


def opened(argument: str) -> tuple[str, Lexicon]:
    """A name and its lexicon; DIR:probability scores counted links by their shares."""
    name, _, place = argument.rpartition("=")
    path, _, by = place.partition(":")
    lexicon = Lexicon.open(Path(path))
    return name, replace(lexicon, info={**lexicon.info, "by": by}) if by else lexicon


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--test", nargs="+", required=True, metavar="NAME=SRC[,REF]")
    parser.add_argument(
        "--lexicon",
        nargs="+",
        default=[],
        metavar="NAME=DIR[:probability]",
        help="ranked as each was built",
    )
    parser.add_argument(
        "--no-production", action="store_true", help="the model brings no shortlist"
    )
    parser.add_argument(
        "--shortlist", default="production shortlist", help="what the model's own is called"
    )
    parser.add_argument("--size", type=int, default=1000, help="where no production shortlist is")
    parser.add_argument("--bonus", type=float, default=5.0)
    parser.add_argument("--lines", type=int, default=0, help="first lines of each set; 0: all")
    parser.add_argument("--latency-lines", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1, help="not of the latency")
    parser.add_argument("--title", default="")
    parser.add_argument("--note", default="", help="what head and lexicons were made from")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--page", type=Path)
    arguments = parser.parse_args()
    bundle = open_bundle(arguments.model)
    engine, tokenizers = NativeEngine.open(bundle, threads=arguments.threads), bundle.tokenizers()
    alone = NativeEngine.open(bundle, threads=1)
    production = None if arguments.no_production else own_lexicon(arguments.model)
    lexicons = Lexicons(production, dict(map(opened, arguments.lexicon)))
    document: dict[str, Any] = {
        "command": command_by_names(),
        "title": arguments.title or arguments.model.name,
        "note": arguments.note,
        "vocabulary": engine.vocab_size,
        "bonus": arguments.bonus,
        "shortlist": arguments.shortlist,
        "load": round(os.getloadavg()[0], 1),
        "sets": {},
    }
    for item in progress(arguments.test, unit="sets", label="sets"):
        name, _, files = item.partition("=")
        test = read_test(engine, tokenizers, files, arguments.lines)
        size, ways = ways_of(engine, test, lexicons, arguments)
        decode = tokenizers.target.decode
        rows = {"all tokens": measured(engine, decode, test, None)}
        rows |= {label: measured(engine, decode, test, lists) for label, lists in ways.items()}
        selectors = real_selectors(lexicons, engine, test, size, arguments.shortlist)
        times = latency(alone, selectors, test, arguments.rounds, arguments.latency_lines)
        document["sets"][name] = {
            "sentences": len(test.src_ids),
            "ways": rows,
            "latency": times,
        }
        write_json(arguments.output, document)  # what is done is on disk
    if arguments.page:
        write_page(arguments.page, document)


if __name__ == "__main__":
    main()
