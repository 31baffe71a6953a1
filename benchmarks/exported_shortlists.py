"""Static shortlists in the toolkits they are for: a distilled head beside theirs, at equal size.

    python benchmarks/exported_shortlists.py MODEL ORIGIN --text TEXT --test TEXT --output FILE.json

MODEL has a head; ORIGIN is the model it was imported from, which its own toolkit runs: Bergamot a
Firefox student (`lex`, beside the shortlist that it brings), CTranslate2 an OPUS-MT model (`vmap`,
beside --lexicon, one by counts). The head is distilled over --text as `sieve export` does, with as
many tokens a row as make its shortlists as large on average as the other's on the test lines. Equal
is the share of sentences whose output in that toolkit is exactly that without a shortlist; recall
is of the tokens that MODEL writes greedily here.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import numpy as np
from oracles.asking import Oracle, Peer
from oracles.environments import BERGAMOT, HUGGING_FACE

from cpu_common import command_by_names
from sieve.bundle.directory import open_bundle
from sieve.cli.export import write
from sieve.data.reading import read_lines
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.files import write_json
from sieve.importers.head_lexicon import DistilOptions, lexicon_of_head
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import FullVocabulary
from sieve.tokenize.tokenizer import Tokenizers, source_ids
from sieve.tokenize.vocabulary import IntArray
from sieve.translate.load import selection_resources

FREQUENT = 50
MOST = 400
BATCH = 16


@dataclass(frozen=True)
class Toolkit:
    """Where a static shortlist is put to the test."""

    origin: Path
    form: str
    """`lex` or `vmap`."""

    def peer(self, scratch: Path, shortlist: Path | None) -> Peer:
        """The program that translates with a shortlist, or without."""
        if self.form == "vmap":
            settings = {"model": str(self.origin), "kind": "int8", "beam": 1, "scores": False}
            if shortlist is not None:
                settings["vmap"] = str(shortlist)
            return Peer(HUGGING_FACE, "ctranslate2_oracle", settings)
        folder = Path(tempfile.mkdtemp(dir=scratch))
        for path in [*self.origin.glob("model*.bin"), *self.origin.glob("*.spm")]:
            (folder / path.name).symlink_to(path.resolve())
        if shortlist is not None:
            (folder / "lex.s2t.bin").symlink_to(shortlist.resolve())
        settings = {"model": str(folder), "shortlist": shortlist is not None, "scores": False}
        return Peer(BERGAMOT, "bergamot_oracle", settings)


def translations(peer: Peer, lines: Sequence[str]) -> list[str]:
    with Oracle(peer) as oracle:
        return [
            answer["text"]
            for start in range(0, len(lines), BATCH)
            for answer in oracle.ask(lines[start : start + BATCH])[0]
        ]


def shortlists(lexicon: Lexicon, ids: Sequence[IntArray], top: int, form: str) -> list[set[int]]:
    """What the toolkit would take: `top` tokens of each source token, and the frequent ones."""
    always = range(FREQUENT) if form == "lex" else ()
    return [{*lexicon.top_k(row, top).tolist(), *always} for row in ids]


def fitting(lexicon: Lexicon, ids: Sequence[IntArray], form: str, size: float) -> int:
    """The number of tokens a row whose shortlists are nearest to a mean size."""
    means = {
        top: abs(np.mean([len(s) for s in shortlists(lexicon, ids, top, form)]) - size)
        for top in range(5, MOST, 5)
    }
    return min(means, key=lambda top: float(means[top]))


def facts(sets: Sequence[set[int]], own: Sequence[set[int]]) -> dict[str, float]:
    pairs = [(tokens, s) for tokens, s in zip(own, sets, strict=True) if tokens]
    recall = np.mean([len(tokens & s) / len(tokens) for tokens, s in pairs])
    return {
        "mean_size": round(float(np.mean([len(s) for s in sets])), 1),
        "own_recall": round(100 * float(recall), 3),
    }


def distilled(
    engine: NativeEngine, tokenizers: Tokenizers, arguments: argparse.Namespace
) -> Lexicon:
    lines = list(islice(read_lines(arguments.text), arguments.limit))
    threshold = selection_resources(open_bundle(arguments.model)).need_threshold()
    sizes = (tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    ids = source_ids(tokenizers.source, lines)
    return lexicon_of_head(engine, ids, sizes, DistilOptions(threshold, MOST))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("origin", type=Path)
    parser.add_argument("--text", type=Path, required=True, help="to distil the head over")
    parser.add_argument("--limit", type=int, default=4000, help="lines of it")
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--lines", type=int, default=500, help="of the test")
    parser.add_argument("--lexicon", type=Path, help="theirs, where the origin brings none")
    parser.add_argument("--top", type=int, default=50, help="tokens a row of theirs")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    bundle = open_bundle(arguments.model)
    engine, tokenizers = NativeEngine.open(bundle, threads=1), bundle.tokenizers()
    lines = list(islice(read_lines(arguments.test), arguments.lines))
    ids = source_ids(tokenizers.source, lines)
    best = engine.translate(ids, FullVocabulary(), SearchOptions(beam_size=1))
    own = [{*hypotheses[0].tokens} for hypotheses in best]
    brought = next(arguments.origin.glob("lex*.bin"), None)
    toolkit = Toolkit(arguments.origin, "vmap" if brought is None else "lex")
    theirs = Lexicon.open(arguments.lexicon or arguments.model)
    ours = distilled(engine, tokenizers, arguments)
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        plain = translations(toolkit.peer(scratch, None), lines)
        size = facts(shortlists(theirs, ids, arguments.top, toolkit.form), own)["mean_size"]
        top = fitting(ours, ids, toolkit.form, size)
        for label, lexicon, number in (("theirs", theirs, arguments.top), ("head", ours, top)):
            path = brought if label == "theirs" and brought else scratch / f"{label}.shortlist"
            if path != brought:
                write(path, toolkit.form, lexicon, tokenizers, number, FREQUENT)
            texts = translations(toolkit.peer(scratch, path), lines)
            equal = np.mean([a == b for a, b in zip(texts, plain, strict=True)])
            row = facts(shortlists(lexicon, ids, number, toolkit.form), own)
            rows[label] = {"top": number, **row, "equal": round(100 * float(equal), 1)}
            print(label, rows[label], flush=True)
    document = {
        "command": command_by_names(),
        "what": "Static shortlists run by the toolkits they are for, at equal mean sizes.",
        "toolkit": "Bergamot" if toolkit.form == "lex" else "CTranslate2",
        "vocabulary": engine.vocab_size,
        "sentences": len(lines),
        "rows": rows,
    }
    write_json(arguments.output, document)


if __name__ == "__main__":
    main()
