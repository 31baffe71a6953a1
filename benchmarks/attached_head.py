"""A head that `sieve attach` made, beside the shortlist that came with the model, at equal sizes.

    python benchmarks/attached_head.py MODEL --test newstest2019=FILE flores=FILE … --output JSON

The model is frozen and the same for every row. For each set: the share of the sentences whose
greedy output is exactly that of all tokens, and the share of the model's own output tokens in the
shortlists, for the lexicon (`lexicon:50+frequent:50`), the head, and the head with a bonus for what
the lexicon names, all with shortlists of the same mean size (read off each set's own curve), and
at --bonus chosen on development text. BLEU beside references where they are given (SET=FILE,FILE).
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sacrebleu

from sieve.bundle.directory import open_bundle
from sieve.data.reading import read_lines
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.files import write_json
from sieve.log import progress
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import FrequentTokens, FullVocabulary, LexiconTopK, Union
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import IntArray

GREEDY = SearchOptions(beam_size=1)
BATCH = 64


@dataclass(frozen=True)
class Test:
    """A test set as the model reads it."""

    name: str
    src_ids: list[IntArray]
    own: list[tuple[int, ...]]
    """Greedy outputs over all tokens."""
    references: list[str] | None


@dataclass(frozen=True)
class Bench:
    """A model, its lexicon's shortlists and its head's logits."""

    engine: NativeEngine
    lexicon: Union
    decode: Any

    def shortlists(self, test: Test) -> list[Shortlist]:
        """The lexicon's."""
        sizes = range(0, len(test.src_ids), BATCH)
        return [
            shortlist
            for start in sizes
            for shortlist in self.lexicon.plan().select(
                self.engine.encode(test.src_ids[start : start + BATCH])
            )
        ]

    def logits(self, test: Test) -> npt.NDArray[np.float32]:
        """The head's, (N, V)."""
        return np.concatenate(
            [
                self.engine.bow_logits(self.engine.encode(test.src_ids[start : start + BATCH]))
                for start in range(0, len(test.src_ids), BATCH)
            ]
        )

    def row(self, test: Test, shortlists: Sequence[Shortlist]) -> dict[str, float]:
        """What a search over these shortlists gives."""
        outputs = []
        for start in range(0, len(test.src_ids), BATCH):
            encoded = self.engine.encode(test.src_ids[start : start + BATCH])
            hypotheses = self.engine.decode(encoded, shortlists[start : start + BATCH], GREEDY)
            outputs += [best[0].tokens for best in hypotheses]
        same = [a == b for a, b in zip(outputs, test.own, strict=True)]
        recall, reach = [], []
        for shortlist, own in zip(shortlists, test.own, strict=True):
            if own:
                inside = np.isin(np.unique(own), shortlist.ids)
                recall.append(inside.mean())
                reach.append(inside.all())
        row = {
            "mean_size": round(float(np.mean([len(s.ids) for s in shortlists])), 1),
            "equal_outputs": round(100 * float(np.mean(same)), 2),
            "own_recall": round(100 * float(np.mean(recall)), 3),
            "in_reach": round(100 * float(np.mean(reach)), 2),
        }
        if test.references is not None:
            texts = self.decode([list(tokens) for tokens in outputs])
            row["bleu"] = round(sacrebleu.corpus_bleu(texts, [test.references]).score, 2)
        return row


def cut(logits: npt.NDArray[np.float32], size: float, eos: int) -> list[Shortlist]:
    """Shortlists of a mean size, from one threshold for the whole set."""
    logits = logits.copy()
    logits[:, eos] = -np.inf  # is in each
    count = int((size - 1) * len(logits))
    flat = logits.ravel()
    threshold = np.partition(flat, len(flat) - count)[len(flat) - count]
    return [Shortlist.of(np.append(np.flatnonzero(row >= threshold), eos), eos) for row in logits]


def with_bonus(
    logits: npt.NDArray[np.float32], shortlists: Sequence[Shortlist], bonus: float
) -> npt.NDArray[np.float32]:
    raised = logits.copy()
    for row, shortlist in zip(raised, shortlists, strict=True):
        row[shortlist.ids] += bonus
    return raised


def measure(bench: Bench, test: Test, bonuses: Sequence[float], eos: int) -> dict[str, Any]:
    shortlists = bench.shortlists(test)
    logits = bench.logits(test)
    lexicon = bench.row(test, shortlists)
    size = lexicon["mean_size"]
    every = [Shortlist.everything(bench.engine.vocab_size, eos)] * len(test.src_ids)
    rows: dict[str, Any] = {"all tokens": bench.row(test, every), "lexicon": lexicon}
    for wanted in (size, size / 2, 500, 1000, 2000):
        label = f"at {wanted:.0f}"
        rows[f"head {label}"] = bench.row(test, cut(logits, wanted, eos))
        for bonus in bonuses:
            raised = with_bonus(logits, shortlists, bonus)
            rows[f"head + lexicon ({bonus:g}) {label}"] = bench.row(test, cut(raised, wanted, eos))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--test", nargs="+", required=True, metavar="NAME=SRC[,REF]")
    parser.add_argument("--bonus", type=float, nargs="*", default=[4.0])
    parser.add_argument("--lines", type=int, default=0, help="first lines of each set; 0: all")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--command", default="", help="what made the model, for the record")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    bundle = open_bundle(arguments.model)
    engine = NativeEngine.open(bundle, threads=arguments.threads)
    tokenizers = bundle.tokenizers()
    lexicon = Lexicon.open(arguments.model)
    eos = engine.config.eos
    frequent = FrequentTokens.from_counts(lexicon.target_counts, 50)
    bench = Bench(engine, Union((LexiconTopK(lexicon, 50), frequent)), tokenizers.target.decode)
    results = {}
    for item in progress(arguments.test, unit="sets", label="sets"):
        name, _, files = item.partition("=")
        source, _, reference = files.partition(",")
        lines = list(read_lines(Path(source)))[: arguments.lines or None]
        references = None
        if reference:
            references = list(read_lines(Path(reference)))[: arguments.lines or None]
        src_ids = [np.array([*ids, eos]) for ids in tokenizers.source.encode(lines)]
        own = [
            best[0].tokens
            for start in range(0, len(src_ids), BATCH)
            for best in engine.translate(src_ids[start : start + BATCH], FullVocabulary(), GREEDY)
        ]
        results[name] = measure(bench, Test(name, src_ids, own, references), arguments.bonus, eos)
        print(name)
        for label, row in results[name].items():
            print(f"  {label:34} {row}")
    if arguments.output:
        document = {
            "command": "python benchmarks/attached_head.py MODEL --test …",
            "made_by": arguments.command,
            "vocabulary": engine.vocab_size,
            "sets": results,
        }
        write_json(arguments.output, document)


if __name__ == "__main__":
    main()
