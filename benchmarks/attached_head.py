"""A head that `sieve attach` made, beside a static shortlist, at equal mean sizes.

    python benchmarks/attached_head.py MODEL --development FILE… --test NAME=SRC[,REF] … \
        --output docs/results/NAME.json

The model is frozen and the same for every row. The static shortlist is that of the model's own
lexicon as Marian makes it: 50 tokens of each source token, 50 frequent ones, and the source's. The
bonus of its tokens in the head's log-odds is chosen on the development lines, by sentences in
reach at the shortlist's mean size there and at half of it; if the model was fused, its bonuses by
rank compete. On each test set: shortlists of the same mean size, read off the set's own curve, and
those at the thresholds that have that mean size on the development lines. Greedy search; a sentence
whose shortlist has all tokens of its unrestricted output is not translated again, since its output
is the same: `checked` counts those that were translated to make sure.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sacrebleu

from attached_ways import (
    Output,
    Scores,
    above,
    cut,
    head_logits,
    mean_size,
    outputs,
    static_shortlists,
    threshold,
    with_bonus,
)
from cpu_common import command_by_names
from sieve.bundle.directory import Bundle, open_bundle
from sieve.data.reading import read_lines
from sieve.engines.native.native_engine import NativeEngine
from sieve.evaluate.measure.recall import needed_tokens
from sieve.files import read_json, write_json
from sieve.log import progress
from sieve.selection.bonus import with_bonuses
from sieve.selection.fusion import Fusion, LexiconBonus
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import FullVocabulary
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.tokenizer import source_ids
from sieve.tokenize.vocabulary import IntArray
from sieve.train.attach.reach_curve import CURVE_FILE

BONUSES = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
SIZES = (500, 1000, 2000)
CHECKED = 100  # sentences of a set that are translated though nothing of theirs is missing


@dataclass(frozen=True)
class Lines:
    """Sentences, and what the model writes for each over all tokens."""

    src_ids: list[IntArray]
    own: list[Output]
    references: list[str] | None


@dataclass(frozen=True)
class Bench:
    """A model, its lexicon, and the evidence of both together."""

    bundle: Bundle
    engine: NativeEngine
    lexicon: Lexicon
    learnt: LexiconBonus | None
    """Bonuses by rank, if the model was fused."""

    @classmethod
    def open(cls, model: Path, threads: int) -> "Bench":
        """Of a directory with head and lexicon."""
        bundle = open_bundle(model)
        engine = NativeEngine.open(bundle, threads=threads)
        lexicon = Lexicon.open(model)
        fusion = bundle.config.get("selection", {}).get("fusion")
        learnt = fusion and LexiconBonus(lexicon, Fusion.from_json(fusion, str(model)))
        return cls(bundle, engine, lexicon, learnt or None)

    @property
    def eos(self) -> int:
        """In each shortlist."""
        return self.engine.config.eos

    def lines(self, sources: Sequence[str], references: list[str] | None = None) -> Lines:
        """Translates them."""
        src_ids = source_ids(self.bundle.tokenizers().source, sources)
        own = outputs(self.engine, src_ids, lambda at: FullVocabulary(), "greedy")
        return Lines(src_ids, own, references)

    def fused(self, logits: Scores, lines: Lines, static: list[Shortlist], how: str) -> Scores:
        """Head and lexicon; how: `by rank`, or a constant."""
        if how == "by rank":
            assert self.learnt is not None
            return with_bonuses(logits, self.learnt(lines.src_ids)).astype(np.float32)
        return with_bonus(logits, static, float(how))


def in_reach(lines: Lines, shortlists: Sequence[Shortlist], bench: Bench) -> list[float]:
    """The share of each sentence's own tokens in its shortlist; nothing to find counts as 1."""
    shares = []
    for own, shortlist in zip(lines.own, shortlists, strict=True):
        needed = needed_tokens(own, bench.engine.specials)
        shares.append(float(np.isin(needed, shortlist.ids).mean()) if len(needed) else 1.0)
    return shares


def chosen(bench: Bench, lines: Lines) -> dict[str, Any]:
    """The bonus, and thresholds of the shortlist's mean size and half of it."""
    static, logits = (
        static_shortlists(bench.engine, bench.lexicon, lines.src_ids),
        head_logits(bench.engine, lines.src_ids),
    )
    size = mean_size(static)
    reached: dict[str, list[float]] = {}
    for how in [*(f"{bonus:g}" for bonus in BONUSES), *(["by rank"] if bench.learnt else [])]:
        raised = bench.fused(logits, lines, static, how)
        lists = [cut(raised, share * size, bench.eos) for share in (1, 0.5)]
        reached[how] = [100 * np.mean(np.equal(in_reach(lines, one, bench), 1)) for one in lists]
    best = max(reached, key=lambda how: sum(reached[how]))
    raised = bench.fused(logits, lines, static, best)
    return {
        "sentences": len(lines.src_ids),
        "static_size": round(size, 1),
        "static_in_reach": round(100 * np.mean(np.equal(in_reach(lines, static, bench), 1)), 2),
        "in_reach_by_bonus": {how: np.round(values, 2).tolist() for how, values in reached.items()},
        "bonus": best,
        "thresholds": {
            f"{way}{label}": threshold(scores, share * size, bench.eos)
            for way, scores in (("head", logits), ("head + shortlist", raised))
            for label, share in (("", 1), (", half", 0.5))
        },
    }


def measured(bench: Bench, lines: Lines, shortlists: Sequence[Shortlist]) -> dict[str, Any]:
    """What a search over these shortlists gives, in percent."""
    shares = in_reach(lines, shortlists, bench)
    missing = [row for row, share in enumerate(shares) if share < 1]
    again = missing + [row for row, share in enumerate(shares) if share == 1][:CHECKED]
    ids = [lines.src_ids[row] for row in again]
    lists = [shortlists[row] for row in again]
    texts = outputs(bench.engine, ids, lambda at: lists[at : at + 64], "greedy")
    found = list(lines.own)
    for row, text in zip(again, texts, strict=True):
        found[row] = text
    same = [a == b for a, b in zip(found, lines.own, strict=True)]
    result = {
        "size": round(mean_size(shortlists), 1),
        "equal": round(100 * float(np.mean(same)), 2),
        "own_recall": round(100 * float(np.mean(shares)), 3),
        "in_reach": round(100 * float(np.mean(np.equal(shares, 1))), 2),
        "checked": len(again) - len(missing),
    }
    return result | scored(bench, found, lines.references)


def scored(bench: Bench, found: Sequence[Output], references: list[str] | None) -> dict[str, float]:
    """BLEU and chrF, where there are references."""
    if references is None:
        return {}
    texts = bench.bundle.tokenizers().target.decode([list(tokens) for tokens in found])
    bleu, chrf = (
        sacrebleu.corpus_bleu(texts, [references]),
        sacrebleu.corpus_chrf(texts, [references]),
    )
    return {"bleu": round(bleu.score, 2), "chrf": round(chrf.score, 2)}


def compared(
    bench: Bench, lines: Lines, development: dict[str, Any], sizes: Sequence[int]
) -> dict[str, Any]:
    """All rows of a test set."""
    static = static_shortlists(bench.engine, bench.lexicon, lines.src_ids)
    logits = head_logits(bench.engine, lines.src_ids)
    raised = bench.fused(logits, lines, static, development["bonus"])
    size, ways = mean_size(static), {"head": logits, "head + shortlist": raised}
    rows = {
        "all tokens": {"size": bench.engine.vocab_size} | scored(bench, lines.own, lines.references)
    }
    rows["shortlist"] = measured(bench, lines, static)
    for way, scores in ways.items():
        rows[way] = measured(bench, lines, cut(scores, size, bench.eos))
        rows[f"{way}, half"] = measured(bench, lines, cut(scores, size / 2, bench.eos))
        for wanted in sizes:
            rows[f"{way} at {wanted}"] = measured(bench, lines, cut(scores, wanted, bench.eos))
        for label in ("", ", half"):
            least = development["thresholds"][way + label]
            rows[f"{way}{label}, threshold of development"] = measured(
                bench, lines, above(scores, least, bench.eos)
            )
    return {"sentences": len(lines.src_ids), "ways": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--development", type=Path, nargs="+", required=True)
    parser.add_argument("--test", nargs="+", required=True, metavar="NAME=SRC[,REF]")
    parser.add_argument("--lines", type=int, help="first lines of each file (default: all)")
    parser.add_argument("--development-lines", type=int, default=1000, help="first of each file")
    parser.add_argument("--brief", action="store_true", help="no other sizes")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--made-by", default="", help="the command that made the head")
    parser.add_argument("--cpu-minutes", type=float, help="of making it, labels included")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    bench = Bench.open(arguments.model, arguments.threads)
    most = arguments.development_lines
    texts = [list(read_lines(path))[:most] for path in arguments.development]
    development = chosen(bench, bench.lines([line for text in texts for line in text if line]))
    print(development, flush=True)
    sets = {}
    for item in progress(arguments.test, unit="sets", label="sets"):
        name, _, files = item.partition("=")
        source, *reference = (
            list(read_lines(Path(path)))[: arguments.lines] for path in files.split(",")
        )
        lines = bench.lines(source, reference[0] if reference else None)
        sets[name] = compared(bench, lines, development, () if arguments.brief else SIZES)
        for label, row in sets[name]["ways"].items():
            print(f"{name}  {label:50} {row}", flush=True)
    curve = read_json(arguments.model / CURVE_FILE)
    document = {
        "command": command_by_names(),
        "made_by": arguments.made_by,
        "cpu_minutes": arguments.cpu_minutes,
        "vocabulary": bench.engine.vocab_size,
        "head": {name: curve[name] for name in ("sentences", "seed", "training") if name in curve},
        "development": development,
        "sets": sets,
    }
    write_json(arguments.output, document)


if __name__ == "__main__":
    main()
