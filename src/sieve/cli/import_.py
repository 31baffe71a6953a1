"""A model of another toolkit into a model directory of Sieve's.

SOURCE is a directory, a model file with its vocabularies beside it, or a name on the Hugging Face
hub. Firefox's and Bergamot's students (.bin, also .gz and .zst), Marian's .npz and MarianMT models
(OPUS-MT) are recognised by their content. What a model has and Sieve lacks is said, in one line.
Weights stay what they are: int8 the same integers, floats fp32.

`sieve translate`, `sieve serve` and `sieve.load` take a SOURCE, too, and keep what they import.

Examples:
  sieve import firefox-en-pt -o en-pt
  sieve import Helsinki-NLP/opus-mt-en-fr -o en-fr --int8
  sieve import model.npz -o model --languages en de --sample english.txt
"""

import argparse
from pathlib import Path

_MOST_LINES = 500


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `sieve import`."""
    parser.add_argument("source", metavar="SOURCE", help="directory, file or hub name")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="DIR", help="model directory to make"
    )
    parser.add_argument(
        "--family",
        metavar="NAME",
        help="firefox, marian or marianmt, where the content does not tell",
    )
    parser.add_argument(
        "--languages",
        nargs=2,
        metavar=("FROM", "TO"),
        help="codes such as en pt (default: what names and metadata say)",
    )
    parser.add_argument("--licence", metavar="TEXT", help="default: what the source says")
    forms = parser.add_mutually_exclusive_group()
    for form, text in {"int8": "a byte a weight", "float32": "four bytes a weight"}.items():
        forms.add_argument(f"--{form}", dest="form", action="store_const", const=form, help=text)
    parser.add_argument(
        "--sample",
        type=Path,
        metavar="TEXT",
        help="lines of the source language: which attention aligns is measured with the first "
        f"{_MOST_LINES} (default: {20} English sentences)",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Imports and says what came of it."""
    from sieve.errors import InputError
    from sieve.importers.importing import ImportOptions, import_model
    from sieve.importers.opening import foreign_source

    if arguments.output.exists():
        raise InputError(f"{arguments.output}: exists and is not replaced; choose another")
    options = ImportOptions(
        arguments.family,
        tuple(arguments.languages) if arguments.languages else None,
        arguments.form,
        arguments.licence,
        _sample(arguments.sample),
    )
    done = import_model(foreign_source(arguments.source), arguments.output, options)
    print(f"{done.directory}: {' to '.join(done.languages)}, {done.family}, {done.form}")
    if done.alignment is None:
        print("alignment: not measured, too few tokens to measure with; give --sample TEXT")
    else:
        heads = " ".join(map(str, done.alignment.heads))
        print(
            f"alignment: layer {done.alignment.layer}, heads {heads}: {done.alignment.share:.1%} "
            f"of {done.alignment.tokens} tokens that are the same on both sides"
        )
    if done.lexicon:
        print("lexicon: the origin's shortlist; --selection lexicon:50+frequent:50 uses it")


def _sample(path: Path | None) -> tuple[str, ...]:
    from itertools import islice

    from sieve.translate.streams import file_lines

    lines = () if path is None else islice(file_lines(path), _MOST_LINES)
    return tuple(line for line in lines if line.strip())
