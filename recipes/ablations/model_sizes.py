"""What selecting words takes in memory (paper, table 7): numbers of a head, of a lexicon.

    python recipes/ablations/model_sizes.py MODEL --lexicon LEXICON --output docs/results/sizes.json

As in the paper a lexicon at k is k words for every source word, whether it has so many or not; what
ours really stores is counted beside it, and so are the numbers that a tied head adds to a model,
whose output embedding is there anyway.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from verbs import Json, command, write

from sieve.bundle.directory import open_bundle
from sieve.bundle.weights import model_config, parameter_shapes
from sieve.selection.lexicon import Lexicon

TOP = (200, 1000)


def head_numbers(model: Path) -> list[Json]:
    """Of the head's own parameters, and of the paper's W H + b at this size."""
    config = model_config(open_bundle(model))
    shapes = parameter_shapes(config)
    own = sum(int(np.prod(shape)) for name, shape in shapes.items() if name.startswith("nvs."))
    full = config.tgt_vocab_size * (config.d_model + 1)
    return [
        {"what": f"NVS, {config.nvs_head} head of {model.name}", "numbers": own},
        {"what": "NVS, full head of the same size (V · D + V)", "numbers": full},
    ]


def lexicon_numbers(path: Path) -> list[Json]:
    """At each k, as the paper counts, and what is stored."""
    lexicon = Lexicon.open(path)
    lengths = np.diff(lexicon.offsets)
    found = []
    for k in TOP:
        stored = int(np.minimum(lengths, k).sum())
        found += [
            {"what": f"align k={k} (V · k)", "numbers": lexicon.src_vocab_size * k},
            {"what": f"align k={k}, entries stored", "numbers": stored},
        ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("--lexicon", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    rows = [*head_numbers(args.model), *(lexicon_numbers(args.lexicon) if args.lexicon else [])]
    config = model_config(open_bundle(args.model))
    write(
        args.output,
        {
            "command": command(sys.argv),
            "title": "Model sizes",
            "about": f"{config.tgt_vocab_size:,} words, width {config.d_model}.",
            "model_sizes": rows,
        },
    )


if __name__ == "__main__":
    main()
