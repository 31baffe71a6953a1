"""Tokens of idiomatic translations that a lexicon leaves out (paper, figure 1).

    python recipes/ablations/missing_tokens.py MODEL --lexicon DIR \
        --output docs/results/missing_tokens_en_de.json

The paper's five examples, and ten idioms of `recipes/idioms`: every sixteenth, so that nobody chose
them. Each is selected for alone, as there: by the lexicon at k = 200 and 1000, and by the head with
the threshold that gives these fifteen shortlists the mean size of the lexicon's at k = 200.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from verbs import Json, command, write

from sieve.engines.native.native_engine import NativeEngine
from sieve.evaluate.measure.probes import HeadAnswers, Probe
from sieve.selection.lexicon import Lexicon
from sieve.translate.load import load

IDIOMS = Path(__file__).parents[1] / "idioms" / "idioms.tsv"
EVERY = 16
TOP = (200, 1000)
PAPER = (
    ("to swallow the bitter pill", "in den sauren Apfel beißen"),
    ("by hook or by crook", "auf Biegen und Brechen"),
    ("to buy a pig in a poke", "die Katze im Sack kaufen"),
    ("to sweat blood", "Blut und Wasser schwitzen"),
    ("make yourself at home!", "machen Sie es sich bequem!"),
)
"""Source and translation, as in its figure."""


def ours() -> list[tuple[str, str]]:
    """Idioms and their German counterparts."""
    _, *lines = IDIOMS.read_text(encoding="utf-8").splitlines()
    named = [line.split("\t")[:2] for line in lines]
    return [(idiom, german) for idiom, german in named if idiom][::EVERY][:10]


def rows(model: str, place: Path) -> list[Json]:
    """One for each idiom."""
    translator, lexicon = load(model, threads=1), Lexicon.open(place)
    sources, targets = zip(*PAPER, *ours(), strict=True)
    probe = Probe.of_text("idioms", translator.tokenizers, sources, {"idiom": targets})
    assert isinstance(translator.engine, NativeEngine)
    logits = HeadAnswers(translator.engine, probe.src_ids).logits
    lists = {k: [lexicon.top_k(ids, k) for ids in probe.src_ids] for k in TOP}
    number = sum(map(len, lists[TOP[0]]))
    cut = np.partition(logits.ravel(), logits.size - number - 1)[logits.size - number - 1]
    pieces = translator.tokenizers.target
    found = []
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        needed = probe.needed["idiom"][row]
        chosen = {f"lexicon:{k}": lists[k][row] for k in TOP}
        chosen["nvs"] = np.flatnonzero(logits[row] > cut)
        found.append(
            {
                "from": "paper" if row < len(PAPER) else "ours",
                "idiom": source,
                "translation": target,
                "pieces": [pieces.piece(index) for index in pieces.encode([target])[0]],
                "missing": {
                    name: [pieces.piece(int(index)) for index in needed if index not in ids]
                    for name, ids in chosen.items()
                },
                "size": {name: len(ids) for name, ids in chosen.items()},
            }
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--lexicon", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    content = {
        "command": command(sys.argv),
        "title": "Tokens of idioms that are left out",
        "direction": "en-de",
        "missing_tokens": rows(args.model, args.lexicon),
    }
    write(args.output, content)


if __name__ == "__main__":
    main()
