"""The cheap direction: a lexicon proposes, the head decides among its tokens. Recall against cost.

    python benchmarks/among_candidates.py MODEL LEXICON --test TEXT --output FILE.json

For each K of `among:K`: how many tokens are proposed, what the head's products cost on one thread
beside those over all tokens (both ways alternate, medians over rounds), and how much of what the
model writes greedily is in shortlists of the same mean size, chosen by one threshold.
"""

import argparse
import os
import statistics
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from cpu_common import command_by_names
from sieve.bundle.directory import open_bundle
from sieve.data.reading import read_lines
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.evaluate.measure.recall import RecallMeter
from sieve.files import write_json
from sieve.selection.bonus import among_candidates
from sieve.selection.candidates import LexiconCandidates
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import FullVocabulary, NeuralSelection
from sieve.tokenize.tokenizer import source_ids
from sieve.tokenize.vocabulary import IntArray

GREEDY = SearchOptions(beam_size=1)
BATCH = 32


def in_reach(
    engine: NativeEngine,
    src_ids: Sequence[IntArray],
    own: Sequence[Sequence[int]],
    size: int,
    among: LexiconCandidates | None,
) -> dict[str, float]:
    """Recall and whole sentences at a mean size, and how many tokens are proposed."""
    meter = RecallMeter(len(src_ids), engine.vocab_size, (), (size,), engine.specials)
    proposed = []
    for start in range(0, len(src_ids), BATCH):
        batch = src_ids[start : start + BATCH]
        logits = engine.bow_logits(engine.encode(batch))
        if among is not None:
            candidates = among(batch)
            proposed += map(len, candidates)
            logits = among_candidates(logits, candidates)
        meter.add(logits, own[start : start + BATCH])
    (point,), (reach,) = meter.at_sizes(), meter.in_reach()
    assert point.threshold is not None
    return {
        "proposed": round(float(np.mean(proposed or [engine.vocab_size])), 1),
        "mean_size": round(point.mean_size, 1),
        "threshold": point.threshold,
        "own_recall": round(100 * point.recall, 3),
        "in_reach": round(100 * reach, 2),
    }


def head_time(
    engine: NativeEngine,
    src_ids: Sequence[IntArray],
    selectors: dict[str, NeuralSelection],
    rounds: int,
) -> dict[str, float]:
    """Milliseconds of choosing a sentence's tokens, medians of the rounds' means."""
    times: dict[str, list[float]] = {name: [] for name in selectors}
    for turn in range(rounds + 1):
        for name, selector in selectors.items():
            _, timings = engine.translate_timed(src_ids, selector, GREEDY)
            if turn:  # the first one warms up
                mean = statistics.mean(timing.select + timing.gather for timing in timings)
                times[name].append(1000 * mean)
    return {name: round(statistics.median(values), 3) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("lexicon", type=Path)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--timed", type=int, default=100, help="lines whose time is taken")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--top", type=int, nargs="+", default=[20, 50, 100, 200, 500, 1000])
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    bundle = open_bundle(arguments.model)
    engine, lexicon = NativeEngine.open(bundle, threads=1), Lexicon.open(arguments.lexicon)
    lines = list(islice(read_lines(arguments.test), arguments.lines))
    src_ids = source_ids(bundle.tokenizers().source, lines)
    best = engine.translate(src_ids, FullVocabulary(), GREEDY)
    own = [hypotheses[0].tokens for hypotheses in best]
    ways = {"all tokens": None} | {
        f"among:{top}": LexiconCandidates(lexicon, top) for top in arguments.top
    }
    rows: dict[str, dict[str, Any]] = {}
    selectors = {}
    for name, among in ways.items():
        rows[name] = in_reach(engine, src_ids, own, arguments.size, among)
        # few candidates: all of them are no more than the size
        threshold = min(max(rows[name].pop("threshold"), 1e-6), 1 - 1e-6)
        selectors[name] = NeuralSelection(threshold, among=among)
    for name, spent in head_time(
        engine, src_ids[: arguments.timed], selectors, arguments.rounds
    ).items():
        rows[name]["head_ms"] = spent
    for name, row in rows.items():
        print(name, row)
    document = {
        "command": command_by_names(),
        "what": "A head over all tokens beside one that decides among a lexicon's candidates.",
        "vocabulary": engine.vocab_size,
        "sentences": len(lines),
        "load": round(os.getloadavg()[0], 1),
        "rows": rows,
    }
    write_json(arguments.output, document)


if __name__ == "__main__":
    main()
