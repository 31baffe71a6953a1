"""NVS against the lexicon over several seeds: heads alone, drawn anew on one frozen model.

    python recipes/ablations/seeds.py MODEL HEAD HEAD HEAD --lexicon DIR --test newstest2019.en-de \
        --idioms itds_idiom_test.en-de --work work/seeds --output docs/results/seeds_en_de.json

MODEL is a float model directory, a HEAD the head of a training run with another seed (fresh_head.py
makes what such a run starts from): a model directory, or a safetensors file of the `nvs.` tensors.
Each head is compared with the lexicon at the lexicon's mean set size; what is written are means and
standard deviations over the heads.
"""

import argparse
import statistics
import sys
from itertools import product
from pathlib import Path

from measured import add_sets, measured
from safetensors.numpy import load_file
from verbs import Json, command, write

from sieve.bundle.directory import open_bundle, write_bundle
from sieve.evaluate.measure.curve import Curve
from sieve.translate.load import load

TOP = (100, 200, 1000)


def with_head(model: Path, head: Path, made: Path) -> Path:
    """The model with another head."""
    bundle = open_bundle(model)
    given = open_bundle(head).tensors() if head.is_dir() else load_file(head)
    tensors = bundle.tensors()
    tensors |= {
        name: tensor.astype(tensors[name].dtype)
        for name, tensor in given.items()
        if name.startswith("nvs.")
    }
    write_bundle(made, bundle.sections(), tensors, bundle.tokenizers())
    return made


def rows(curves: list[list[Curve]]) -> list[Json]:
    """For each set, scope and k: the lexicon's recall, the heads' at its size."""
    by_name = [{(one.test, one.scope, one.method): one for one in seed} for seed in curves]
    scopes = dict.fromkeys((one.test, one.scope) for one in curves[0])
    found = []
    for (test, scope), k in product(scopes, TOP):
        lexicon = by_name[0][test, scope, "lexicon"]
        point = next(point for point in lexicon.points if point.setting == k)
        recalls = [seed[test, scope, "nvs"].recall_at(point.mean_size) for seed in by_name]
        found.append(
            {
                "test": test,
                "scope": scope,
                "counted": lexicon.counted,
                "lexicon": f"lexicon:{k}",
                "mean_size": point.mean_size,
                "lexicon_recall": point.recall,
                "nvs_recalls": recalls,
                "nvs_mean": statistics.mean(recalls),
                "nvs_deviation": statistics.stdev(recalls),
            }
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("heads", type=Path, nargs="+", metavar="HEAD")
    parser.add_argument("--lexicon", type=Path, required=True)
    add_sets(parser)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    if len(args.heads) < 2:
        parser.error(f"got {len(args.heads)} head, expected two or more")
    curves = []
    for number, head in enumerate(args.heads, 1):
        print(f"head {number} of {len(args.heads)}", flush=True)
        made = with_head(args.model, head, args.work / f"model.{number}")
        curves.append(measured(made, args.lexicon, args))
    direction = "-".join(load(args.model).languages)
    content = {
        "command": command(sys.argv),
        "title": f"{len(args.heads)} seeds, {direction}",
        "direction": direction,
        "about": "Heads alone, matrices drawn anew for each seed (fresh_head.py), trained alike "
        "on one frozen model.",
        "seeds": rows(curves),
    }
    write(args.output, content)


if __name__ == "__main__":
    main()
