"""Convert the weights of a model directory.

--int8 stores one byte a weight, packed for the native engine; every engine reads it. The output
is a whole directory: tokenizers, lexicon and card come along.

--head-rank keeps the weights and gives the selection head products of low rank, those that suit
what the model makes of --text; a calibrated model is calibrated again by it.

Examples:
  sieve convert model --int8
  sieve convert model --int8 --output small
  sieve convert model-int8 --float32 --output to-train-on
  sieve convert en-de --head-rank 64 --text newstest2018.en --output factored
"""

import argparse
import json
from itertools import islice
from pathlib import Path

_MOST_LINES = 3000  # of --text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `sieve convert`."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="model directory to read")
    forms = parser.add_mutually_exclusive_group(required=True)
    for form, text in {
        "int8": "one byte per weight and a scale per row",
        "float16": "two bytes per weight",
        "float32": "four bytes per weight",
    }.items():
        forms.add_argument(f"--{form}", dest="form", action="store_const", const=form, help=text)
    forms.add_argument(
        "--head-rank", type=int, metavar="R", help="products of rank R in the selection head"
    )
    parser.add_argument(
        "--text", type=Path, metavar="TEXT", help="for --head-rank: some 1000 lines of the source"
    )
    parser.add_argument(
        "--second-look",
        type=float,
        default=1.5,
        metavar="N",
        help="for --head-rank: tokens looked at in full, for each that is selected; 0: none "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="default: MODEL-int8 and so on, beside MODEL",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Converts and prints both sizes."""
    from sieve.bundle.convert import convert
    from sieve.errors import ConfigError
    from sieve.importers.opening import changeable_directory

    model = changeable_directory(arguments.model, arguments.output)
    if arguments.head_rank is not None:
        _factor(model, arguments)
        return
    if arguments.text is not None:
        raise ConfigError("--text: is for --head-rank; other forms need no text")
    done = convert(model, arguments.form, arguments.output)
    before, after = done.bytes_before / 1e6, done.bytes_after / 1e6
    print(f"{done.directory}: {after:.1f} MB, before {before:.1f} MB ({after / before:.0%})")


def _factor(model: Path, arguments: argparse.Namespace) -> None:
    """Factors the head and prints what came out."""
    from sieve.bundle.directory import open_bundle
    from sieve.data.reading import read_lines
    from sieve.errors import ConfigError
    from sieve.tokenize.tokenizer import source_ids
    from sieve.train.factor_head import FactorOptions, factor_head

    options = FactorOptions(arguments.head_rank, arguments.second_look)
    if arguments.text is None:
        raise ConfigError("--head-rank: needs --text, a file of some 1000 lines of the source")
    lines = [line for line in islice(read_lines(arguments.text), _MOST_LINES) if line]
    output = arguments.output or model.with_name(f"{model.name}-rank{arguments.head_rank}")
    ids = source_ids(open_bundle(model).tokenizers().source, lines)
    config = factor_head(model, output, ids, options).config
    note = {"model": str(output), "rank": config.nvs_rank, "slack": config.nvs_slack}
    print(json.dumps({**note, "sentences": len(ids)}))
