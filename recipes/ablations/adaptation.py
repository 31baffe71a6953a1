"""Domain adaptation (paper, table 4 and figure 4): the head against the lexicon, before and after.

    python recipes/ablations/adaptation.py MODEL --lexicon LEXICON --pair IN.en IN.de \
        --idioms itds_idiom_test.en-de --test newstest2019.en-de --work work/adaptation \
        --output docs/results/adaptation_en_de.json

MODEL is a float model directory with a head. A few hundred pairs are drawn from the in-domain text.
The head alone, or with --whole-model everything, is fine-tuned on them with the paper's settings
(10 epochs, 1e-4, 2048 tokens). The lexicon gets the same pairs ten times: with --corpus as in the
paper, by aligning CORPUS again with them; else by `sieve lexicon adapt`, which takes seconds but
finds no pair of words that the lexicon does not know. A run that was
stopped resumes when rerun.
"""

import argparse
import random
import sys
from itertools import product
from pathlib import Path

from measured import add_sets, measured
from verbs import Json, command, once, write

from sieve.data.reading import read_lines
from sieve.evaluate.measure.curve import Curve
from sieve.translate.load import load

TOP = (200, 1000)
STATES = ("before", "after")


def draw(source: Path, target: Path, number: int, folder: Path) -> tuple[Path, Path]:
    """So many pairs at random, the same each time."""
    paths = folder / "in-domain.source", folder / "in-domain.target"
    if not all(path.exists() for path in paths):
        lines = list(zip(read_lines(source), read_lines(target), strict=True))
        chosen = random.Random(1).sample(lines, min(number, len(lines)))
        for path, side in zip(paths, zip(*chosen, strict=True), strict=True):
            path.write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    return paths


def adapted_lexicon(args: argparse.Namespace, pair: tuple[Path, Path]) -> Path:
    """The lexicon with the in-domain pairs, ten times."""
    made: Path = args.work / "lexicon"
    if args.corpus is None:
        return once(made, "lexicon", "adapt", args.lexicon, "--pair", *pair, "-o", made)
    extra = args.work / "in-domain"
    # nothing is cleaned away: the head learns from every pair, too
    kept = ("overlap", "tokens", "length-ratio")
    whole = [word for rule in kept for word in (f"--max-{rule}", "off")]
    once(
        extra, "prepare", "--pair", *pair, "--tokenizer", args.model, "--keep-duplicates", *whole,
        "--output", extra,
    )  # fmt: skip
    return once(made, "lexicon", "build", args.corpus, "--extra", extra, "-o", made)


def adapted_head(args: argparse.Namespace, pair: tuple[Path, Path]) -> Path:
    """The model with its head fine-tuned, or all of it."""
    made: Path = args.work / "model"
    settings = [f"training.positive_weight={args.positive_weight}", *args.set]
    chosen = [word for setting in settings for word in ("--set", setting)]
    return once(
        made, "adapt", args.model, "--pair", *pair, *([] if args.whole_model else ["--head-only"]),
        "--epochs", args.epochs, *chosen, "--output", made,
    )  # fmt: skip


def rows(state: str, curves: list[Curve], sizes: dict[tuple[str, str, int], float]) -> list[Json]:
    """The lexicon at its k, the head with as many words as that lexicon had before."""
    found: list[Json] = []
    by_name = {(one.test, one.scope, one.method): one for one in curves}
    scopes = dict.fromkeys((one.test, one.scope) for one in curves)
    for (test, scope), k in product(scopes, TOP):
        lexicon, head = by_name[test, scope, "lexicon"], by_name[test, scope, "nvs"]
        point = next(point for point in lexicon.points if point.setting == k)
        size = sizes.setdefault((test, scope, k), point.mean_size)
        shared = {"state": state, "test": test, "scope": scope, "counted": lexicon.counted}
        found += [
            {**shared, "selection": f"lexicon:{k}", "recall": point.recall,
             "mean_size": point.mean_size},
            {**shared, "selection": f"nvs at the size of lexicon:{k} before",
             "recall": head.recall_at(size), "mean_size": size},
        ]  # fmt: skip
    return found


def brief(state: str, curve: Curve) -> Json:
    """A curve as rows of λ or k, recall and mean size."""
    points = [
        [point.setting, round(point.recall, 5), round(point.mean_size, 1)] for point in curve.points
    ]
    names = {"test": curve.test, "scope": curve.scope, "method": curve.method}
    return {"state": state, **names, "points": points}


def about(args: argparse.Namespace, pair: tuple[Path, Path]) -> str:
    """What was done, in a sentence."""
    number = sum(1 for _ in read_lines(pair[0]))
    learned = "whole model" if args.whole_model else "head alone"
    aligned = "aligned again with all text" if args.corpus else "by `sieve lexicon adapt`"
    return (
        f"{number} in-domain pairs; {learned}, {args.epochs} epochs; lexicon with the same pairs "
        f"ten times, {aligned}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("--lexicon", type=Path, required=True)
    parser.add_argument("--pair", type=Path, nargs=2, required=True, help="in-domain text")
    parser.add_argument("--number", type=int, default=300, help="in-domain pairs")
    parser.add_argument("--corpus", type=Path, help="align it again, as in the paper")
    parser.add_argument("--whole-model", action="store_true", help="not the head alone")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--positive-weight", default="1000", help="that the head learned with")
    parser.add_argument("--set", action="append", default=[], help="settings of sieve adapt")
    add_sets(parser)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    pair = draw(*args.pair, args.number, args.work)
    sides = {
        "before": (args.model, args.lexicon),
        "after": (adapted_head(args, pair), adapted_lexicon(args, pair)),
    }
    table: list[Json] = []
    curves: list[Json] = []
    sizes: dict[tuple[str, str, int], float] = {}
    for state in STATES:
        found = measured(*sides[state], args)
        table += rows(state, found, sizes)
        curves += [brief(state, curve) for curve in found]
    write(
        args.output,
        {
            "command": command(sys.argv),
            "title": "Domain adaptation, " + "-".join(load(args.model).languages),
            "direction": "-".join(load(args.model).languages),
            "about": about(args, pair),
            "engine": str(load(args.model, threads=args.threads).engine),
            "adaptation": table,
            "adaptation_curves": curves,
        },
    )


if __name__ == "__main__":
    main()
