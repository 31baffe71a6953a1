"""What a lexicon adds to a selection head: own tokens and sentences in reach at equal mean sizes.

    python benchmarks/fused_selection.py MODEL LEXICON --learn newstest2018.en \
        --test newstest2017.en --output docs/results/fused_selection.json

The bonuses are learnt on one text and measured on another: against the head alone, the lexicon
alone (the best ranks first), and a constant bonus. Also the cheap direction: the lexicon's lists
and the most frequent tokens name candidates, and the head decides among them only; its products
are then those of the candidates.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.bundle.directory import open_bundle
from sieve.data.reading import read_lines
from sieve.engines.engine import Engine, FloatArray
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.evaluate.measure.recall import needed_tokens
from sieve.files import write_json
from sieve.importers.opening import model_directory
from sieve.selection.bonus import with_bonuses
from sieve.selection.fusion import EDGES, Fusion, LexiconBonus, best_ranks
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import FullVocabulary
from sieve.tokenize.tokenizer import source_ids
from sieve.tokenize.vocabulary import IntArray
from sieve.train.fit_fusion import FusionTally

SIZES = (500, 1000, 2000)
CONSTANTS = [(4.0, 50), (2.0, 50), (1.0, 10)]
CANDIDATES = [(50, 1000), (100, 2000), (500, 4000)]
Scores = Callable[[FloatArray, Sequence[IntArray]], FloatArray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("lexicon", type=Path)
    parser.add_argument("--learn", type=Path, required=True, help="text the bonuses are learnt on")
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=2000, help="lines of each text")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    bundle = open_bundle(model_directory(arguments.model))
    engine = NativeEngine.open(bundle, threads=1)
    lexicon = Lexicon.open(arguments.lexicon)
    texts = [
        Text(engine, source_ids(bundle.tokenizers().source, [*lines(path, arguments.limit)]))
        for path in (arguments.learn, arguments.test)
    ]
    tally = FusionTally(lexicon, engine.specials)
    for logits, ids, outputs in texts[0].batches():
        tally.add(logits, ids, outputs)
    fusion = tally.fit()
    rows = [
        {"selection": name, **texts[1].measured(scores)}
        for name, scores in systems(lexicon, fusion).items()
    ]
    cheap = [
        {"per_token": k, "frequent": n, **texts[1].measured(among(lexicon, k, n, scores))}
        | {"fused": name == "fused", "candidates": texts[1].candidates(lexicon, k, n)}
        for k, n in CANDIDATES
        for name, scores in (("head", head), ("fused", fused(LexiconBonus(lexicon, fusion))))
    ]
    for row in rows + cheap:
        print(row, flush=True)
    if arguments.output:
        names = [Path(part).name if "/" in part else part for part in sys.argv[1:]]
        command = " ".join(["python benchmarks/fused_selection.py", *names])
        content = {"command": command, "what": str(__doc__).splitlines()[0]}
        learnt = {"bonuses": fusion.as_json(), "vocab_size": engine.vocab_size}
        write_json(arguments.output, {**content, **learnt, "rows": rows, "candidates": cheap})


def lines(path: Path, limit: int) -> Iterator[str]:
    return islice((line for line in read_lines(path) if line), limit)


class Text:
    """Sentences, and what the model writes for them without selection."""

    def __init__(self, engine: Engine[Any], src_ids: list[IntArray]) -> None:
        self.engine = engine
        self.src_ids = sorted(src_ids, key=len)
        ranked = engine.translate(self.src_ids, FullVocabulary(), SearchOptions())
        self.outputs = [best.tokens for best, *_ in ranked]

    def batches(self) -> Iterator[tuple[FloatArray, list[IntArray], list[tuple[int, ...]]]]:
        """Logits of the head, sources, and what the model writes."""
        for start in range(0, len(self.src_ids), 64):
            ids = self.src_ids[start : start + 64]
            logits = self.engine.bow_logits(self.engine.encode(ids))
            yield logits, ids, self.outputs[start : start + 64]

    def measured(self, scores: Scores) -> dict[str, Any]:
        """Recall of own tokens and sentences in reach, in per cent, by mean size."""
        highest: list[npt.NDArray[np.float32]] = []
        needed = []
        room = 4 * max(SIZES)  # of a sentence: far more than a cut leaves it
        for logits, ids, outputs in self.batches():
            total = scores(logits, ids)
            total[:, self.engine.specials.eos] = np.inf
            highest.append(np.partition(total, -room, axis=1)[:, -room:].ravel())
            needed += [row[needed_tokens(out)] for row, out in zip(total, outputs, strict=True)]
        ordered = np.sort(np.concatenate(highest))[::-1]
        cuts = {size: ordered[size * len(self.src_ids)] for size in SIZES}
        return {str(size): _reach(needed, cut) for size, cut in cuts.items()}

    def candidates(self, lexicon: Lexicon, per_token: int, frequent: int) -> float:
        """Mean number of tokens that the head decides among."""
        most = _frequent(lexicon, frequent)
        lists = [np.union1d(lexicon.top_k(ids, per_token), most) for ids in self.src_ids]
        return round(float(np.mean([len(ids) for ids in lists])), 1)


def _reach(needed: list[npt.NDArray[np.float32]], cut: float) -> list[float]:
    inside = [row > cut for row in needed if len(row)]
    recall, whole = np.mean([row.mean() for row in inside]), np.mean([row.all() for row in inside])
    return [round(100 * float(recall), 3), round(100 * float(whole), 2)]


def head(logits: FloatArray, ids: Sequence[IntArray]) -> FloatArray:
    return logits.copy()


def fused(evidence: LexiconBonus) -> Scores:
    return lambda logits, ids: with_bonuses(logits, evidence(ids)).astype(np.float32)


def systems(lexicon: Lexicon, fusion: Fusion) -> dict[str, Scores]:
    found = {"lexicon": by_rank(lexicon), "head": head}
    for bonus, most in CONSTANTS:
        constant = LexiconBonus(lexicon, Fusion((most,), (bonus,)))
        found[f"head + {bonus:g} to rank {most}"] = fused(constant)
    return {**found, f"head + by rank to {EDGES[-1]}": fused(LexiconBonus(lexicon, fusion))}


def by_rank(lexicon: Lexicon) -> Scores:
    """The best ranks first, of equal ones the more frequent token."""
    counts = np.argsort(np.argsort(lexicon.target_counts, kind="stable"), kind="stable")
    tie = (counts / len(counts)).astype(np.float32)

    def scores(logits: FloatArray, ids: Sequence[IntArray]) -> FloatArray:
        total = np.full_like(logits, -2000) + tie
        for row, sentence in zip(total, ids, strict=True):
            targets, ranks = best_ranks(lexicon, sentence, 1000)
            row[targets] = tie[targets] - ranks
        return total

    return scores


def among(lexicon: Lexicon, per_token: int, frequent: int, scores: Scores) -> Scores:
    """Tokens that neither a list nor frequency names are out."""
    most = _frequent(lexicon, frequent)

    def chosen(logits: FloatArray, ids: Sequence[IntArray]) -> FloatArray:
        total = scores(logits, ids)
        for row, sentence in zip(total, ids, strict=True):
            out = np.ones(len(row), np.bool_)
            out[lexicon.top_k(sentence, per_token)] = out[most] = False
            row[out] = -np.inf
        return total

    return chosen


def _frequent(lexicon: Lexicon, number: int) -> IntArray:
    return np.argsort(-lexicon.target_counts, kind="stable")[:number]


if __name__ == "__main__":
    main()
