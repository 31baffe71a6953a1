"""Give a model a selection head, everything else frozen: minutes on a laptop, no references.

The model translates the text once, the head learns which tokens each sentence needs, and the
operating point is set on held-out lines. An interrupted run resumes when rerun. How much is in
reach at each size stands in OUTPUT/reach.json, and in reach.svg with the evaluate extra; the card
says what the head learned from.

Examples:
  sieve attach en-pt --source europarl.en.bz2 tatoeba.en -o en-pt-selected
  sieve attach model --source text.en --target text.de --minutes 10 -o selected
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `sieve attach`."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="model directory or name")
    parser.add_argument(
        "--source", type=Path, nargs="+", required=True, metavar="TEXT", help="source-language text"
    )
    parser.add_argument(
        "--target",
        type=Path,
        nargs="+",
        default=(),
        metavar="TEXT",
        help="its reference translations, if any",
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--head", choices=["tied", "full", "factored"], default="tied", help="kind of head"
    )
    numbers = [
        ("--minutes", float, 20.0, "M", "time budget for translation and training"),
        ("--sentences", int, 200_000, "N", "lines used at most"),
        ("--development", int, 1000, "N", "held-out lines for calibration and measurement"),
        ("--size", int, 1000, "N", "mean shortlist size of the operating point"),
        ("--rank", int, 64, "R", "of a factored head; see sieve convert --head-rank"),
        ("--least", int, 256, "N", "minimum shortlist size"),
        ("--seed", int, 1, "N", "for the initial head and the order of learning"),
        ("--threads", int, None, "N", "sentences in parallel"),
    ]  # fmt: skip
    for name, kind, value, metavar, text in numbers:
        text = text if value is None else f"{text} (default: %(default)s)"
        parser.add_argument(name, type=kind, default=value, metavar=metavar, help=text)
    parser.add_argument(
        "--lexicon",
        action="store_true",
        help="count a lexicon of what a model without one writes, whose evidence is added",
    )
    parser.add_argument(
        "--device",
        default="cpu",
        help="that the head learns on: cpu or cuda (default: %(default)s)",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Attaches, and prints what came out as JSON."""
    from sieve.errors import require

    require("torch", "train", "attaching a head")
    from sieve.importers.opening import model_directory
    from sieve.train.attach.attach import attach
    from sieve.train.attach.attach_options import AttachOptions
    from sieve.train.attach.head import HeadOptions
    from sieve.train.attach.source_text import SourceText
    from sieve.train.calibrate import CalibrationOptions
    from sieve.train.factor_head import FactorOptions

    options = AttachOptions(
        minutes=arguments.minutes,
        head=arguments.head,
        factors=FactorOptions(arguments.rank),
        lexicon=arguments.lexicon,
        sentences=arguments.sentences,
        development=arguments.development,
        training=HeadOptions(seed=arguments.seed, size=arguments.size),
        calibration=CalibrationOptions(size=arguments.size, least=arguments.least),
        threads=arguments.threads,
        device=arguments.device,
    )
    text = SourceText(tuple(arguments.source), tuple(arguments.target))
    attached = attach(model_directory(arguments.model), arguments.output, text, options)
    print(json.dumps(asdict(attached)))
