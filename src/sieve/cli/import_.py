"""Import a model of another toolkit as a model directory.

SOURCE is a directory, a model file with its vocabularies beside it, or a name on the Hugging Face
hub. Firefox's and Bergamot's students (.bin, also .gz and .zst), Marian's .npz and MarianMT models
(OPUS-MT) are recognised by their content. A model with a feature that Sieve lacks is refused with
one line. Weights keep their form: int8 the same integers, floats as float32.

`sieve translate`, `sieve serve` and `sieve.load` also accept a SOURCE and cache the import.

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
        "-o", "--output", type=Path, required=True, metavar="DIR", help="model directory to write"
    )
    parser.add_argument(
        "--family",
        metavar="NAME",
        help="firefox, marian or marianmt, if the content does not tell",
    )
    parser.add_argument(
        "--languages",
        nargs=2,
        metavar=("FROM", "TO"),
        help="codes such as en pt (default: from names and metadata)",
    )
    parser.add_argument("--licence", metavar="TEXT", help="default: from the source")
    forms = parser.add_mutually_exclusive_group()
    for form, text in {"int8": "one byte per weight", "float32": "four bytes per weight"}.items():
        forms.add_argument(f"--{form}", dest="form", action="store_const", const=form, help=text)
    parser.add_argument(
        "--sample",
        type=Path,
        metavar="TEXT",
        help="source-language lines to choose the attention heads that align, the first "
        f"{_MOST_LINES} of them (default: built-in lines of that language, if there are any)",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Imports a model and prints a summary."""
    from sieve.errors import InputError
    from sieve.importers.importing import ImportOptions, import_model
    from sieve.importers.opening import foreign_source

    if arguments.output.exists():
        raise InputError(f"{arguments.output}: already exists; choose another --output")
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
        print("alignment: not measured, too few tokens; give --sample TEXT")
    else:
        heads = " ".join(map(str, done.alignment.heads))
        print(
            f"alignment: layer {done.alignment.layer}, heads {heads}: {done.alignment.share:.1%} "
            f"of {done.alignment.tokens} tokens that are the same on both sides "
            f"(sample: {done.sample})"
        )
    if done.lexicon:
        print("lexicon: the origin's shortlist; --selection lexicon:50+frequent:50 uses it")


def _sample(path: Path | None) -> tuple[str, ...]:
    from itertools import islice

    from sieve.translate.streams import file_lines

    lines = () if path is None else islice(file_lines(path), _MOST_LINES)
    return tuple(line for line in lines if line.strip())
