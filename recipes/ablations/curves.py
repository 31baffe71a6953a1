"""The head against lexicons as large (paper, tables 2 and 3, figures 3, 6 and 7).

    python recipes/ablations/curves.py MODEL --lexicon counts=DIR probability=DIR \
        --test newstest2019.en-de --idioms itds_idiom_test.en-de \
        --output docs/results/curves_en_de.json

For each set, scope, lexicon and k: the lexicon's recall and mean set size, and the head's recall
with one threshold whose sets are as large, between thresholds interpolated in log(size). The
lexicon that comes nearer to the head, averaged over all of these, comes first in the file.
"""

import argparse
import statistics
import sys
from pathlib import Path

from measured import add_sets, measured
from verbs import Json, command, write

from sieve.selection.lexicon import Lexicon
from sieve.translate.load import load

TOP = (100, 200, 500, 1000, 2000, 5000, 10_000)


def rows(name: str, lexicon: Path, args: argparse.Namespace) -> list[Json]:
    """One for each set, scope and k; a k whose sets are those of the one before is left out."""
    curves = {(one.test, one.scope, one.method): one for one in measured(args.model, lexicon, args)}
    found = []
    for test, scope in dict.fromkeys((test, scope) for test, scope, _ in curves):
        points, head = curves[test, scope, "lexicon"].points, curves[test, scope, "nvs"]
        largest = 0.0
        for point in points:
            if point.setting not in TOP or point.mean_size <= largest:
                continue
            largest = point.mean_size
            found.append(
                {
                    "test": test,
                    "scope": scope,
                    "counted": head.counted,
                    "lexicon": name,
                    "k": int(point.setting),
                    "mean_size": round(point.mean_size, 1),
                    "lexicon_recall": round(point.recall, 5),
                    "nvs_recall": round(head.recall_at(point.mean_size), 5),
                }
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("--lexicon", nargs="+", required=True, metavar="NAME=DIR")
    add_sets(parser)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    named = [one.partition("=")[::2] for one in args.lexicon]
    by_name = {name: rows(name, Path(place), args) for name, place in named}

    strength: dict[str, float] = {
        name: statistics.mean(row["lexicon_recall"] - row["nvs_recall"] for row in found)
        for name, found in by_name.items()
    }
    order = sorted(by_name, key=lambda name: strength[name], reverse=True)
    direction = "-".join(load(args.model).languages)
    content = {
        "command": command(sys.argv),
        "title": f"The head against lexicons as large, {direction}",
        "direction": direction,
        "lexicons": {name: dict(Lexicon.open(Path(place)).info) for name, place in named},
        "against": [row for name in order for row in by_name[name]],
    }
    write(args.output, content)


if __name__ == "__main__":
    main()
