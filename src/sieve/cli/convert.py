"""Convert the weights of a model directory.

--int8 stores one byte a weight, packed for the native engine; every engine reads it. The output
is a whole directory: tokenizers, lexicon and card come along.

Examples:
  sieve convert model --int8
  sieve convert model --int8 --output small
  sieve convert model-int8 --float32 --output to-train-on
"""

import argparse
from pathlib import Path


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
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="default: MODEL-int8 beside MODEL"
    )


def execute(arguments: argparse.Namespace) -> None:
    """Converts and prints both sizes."""
    from sieve.bundle.convert import convert
    from sieve.importers.opening import changeable_directory

    model = changeable_directory(arguments.model, arguments.output)
    done = convert(model, arguments.form, arguments.output)
    before, after = done.bytes_before / 1e6, done.bytes_after / 1e6
    print(f"{done.directory}: {after:.1f} MB, before {before:.1f} MB ({after / before:.0%})")
