"""The head's recall beside a lexicon's at the lexicon's own mean set sizes.

    python recipes/quick-en-de/compare.py HEAD.json LEXICON.json --output RESULT.json

HEAD.json comes from evaluate.py here, LEXICON.json from benchmarks/lexicon_recall.py. Between two
measured sizes the head's curve is interpolated in log(size); nothing is extrapolated upwards: above
the largest measured size its last value counts, below the smallest there is no comparison.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


def head_curve(test: dict[str, Any]) -> list[tuple[float, float]]:
    points = [(float(size), 100 * recall) for size, recall in test["recall_at_size"].items()]
    at = test["recall_at_threshold"].values()
    return sorted([*points, *((point["size"], 100 * point["recall"]) for point in at)])


def compare(test: dict[str, Any], curve: dict[str, Any]) -> list[dict[str, float]]:
    sizes, recalls = np.array(head_curve(test)).T
    return [
        {
            "k": point["k"],
            "mean_size": point["mean_size"],
            "lexicon": point["recall"],
            "head": round(float(np.interp(np.log(point["mean_size"]), np.log(sizes), recalls)), 2),
        }
        for point in curve["points"]
        if point["mean_size"] >= sizes[0]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("head", type=Path)
    parser.add_argument("lexicon", type=Path)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    head, lexicon = (json.loads(path.read_text()) for path in (args.head, args.lexicon))
    result: dict[str, Any] = {"command": " ".join(["python", *sys.argv]), "tests": {}}
    for curve in lexicon["curves"]:
        name, kind = curve["test"].removesuffix(".en-de"), curve["lexicon"]
        rows = compare(head["tests"][name], curve)
        for row in rows:
            print(f"{name:24}{row['mean_size']:9.0f}{row['lexicon']:8.2f}{row['head']:8.2f}")
        above = all(row["head"] > row["lexicon"] for row in rows)
        result["tests"].setdefault(name, {})[kind] = {"head_above_everywhere": above, "rows": rows}
        print(f"{name}, {kind}: head above lexicon at every size: {above}")
    if args.output:
        args.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
