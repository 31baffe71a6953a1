"""`sieve translate` of documents: one document in, one document out."""

import argparse
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any

from sieve.cli.lines import open_input, standard_input
from sieve.errors import ConfigError, InputError
from sieve.log import progress

if TYPE_CHECKING:
    from tqdm import tqdm

    from sieve.documents.document import Document
    from sieve.documents.formats import Format
    from sieve.translate.translation import Request, Translation
    from sieve.translate.translator import Translator

LINES = "lines"


def document_format(arguments: argparse.Namespace) -> "Format | None":
    """The format of the document to translate; None where lines are."""
    is_file = bool(arguments.input and arguments.input.is_file())
    if arguments.format == LINES or (arguments.format is None and not is_file):
        if arguments.columns:
            raise ConfigError("--columns: lines have none; give --format csv or tsv")
        return None
    from sieve.documents import guessed, named

    if arguments.format:
        format: Format | None = named(arguments.format)
    else:
        with open_input(arguments.input) as source:
            format = guessed(source, str(arguments.input))
    if format is not None:
        _check_options(format, arguments)
        format = format.named(str(arguments.output or "")).of_columns(arguments.columns)
    elif arguments.columns:
        raise ConfigError(
            "--columns: the input is no table; name it .csv or .tsv, or give --format"
        )
    return format


def _check_options(format: "Format", arguments: argparse.Namespace) -> None:
    """Refuses options that a document does not support."""
    from sieve.documents import FORMATS

    for name in ("json", "prefix", "alignment"):
        if getattr(arguments, name):
            hint = "" if arguments.format else "; --format lines translates line by line"
            raise ConfigError(f"--format {format.name} does not support --{name}{hint}")
    if not arguments.output:
        return
    if arguments.output.is_dir():
        raise InputError(f"{arguments.output}: is a directory, expected a file to write")
    suffix = PurePath(arguments.output).suffix.lower()
    names = [other.name for other in FORMATS.values() if suffix in other.suffixes]
    if names and format.name not in names and suffix not in format.others:
        raise ConfigError(
            f"{arguments.output}: is named like {' or '.join(names)}, but {format.name} stays "
            f"{format.name}; choose another --output"
        )


def run_document(
    translator: "Callable[[], Translator]",
    request: "Request",
    format: "Format",
    arguments: argparse.Namespace,
) -> None:
    """Translates a file or standard input; the output is written whole or not at all.

    Args:
        translator: Opens the model, once the input could be opened.
        request: What to ask it.
        format: Of the document.
        arguments: Of the command.
    """
    from sieve.documents import translate_stream

    name = str(arguments.input) if arguments.input else "standard input"
    with ExitStack() as stack:
        source = stack.enter_context(_source(arguments))
        target = stack.enter_context(_target(arguments.output))
        model = translator()
        bar: tqdm[Any] = progress(unit=" sentences", label=PurePath(name).name)

        def answer(document: "Document") -> "Sequence[Translation]":
            translations = document.translations(request, model.run)
            bar.update(len(translations))
            return translations

        translate_stream(source, target, format, (model, answer), name)
        bar.close()


@contextmanager
def _source(arguments: argparse.Namespace) -> Iterator[IO[bytes]]:
    """The document, as a file that can be rewound."""
    path: Path | None = arguments.input
    if arguments.text is not None:
        yield io.BytesIO(os.fsencode(arguments.text))
        return
    if path is not None and path.is_file():
        with open_input(path) as file:
            yield file
        return
    with tempfile.TemporaryFile() as spool:
        if path is None:
            shutil.copyfileobj(standard_input().buffer, spool)
        else:
            with open_input(path) as pipe:
                shutil.copyfileobj(pipe, spool)
        spool.seek(0)
        yield spool


@contextmanager
def _target(path: Path | None) -> Iterator[IO[bytes]]:
    """Where the document is written; standard output gets it once it is whole."""
    if path is None:
        with tempfile.TemporaryFile() as spool:
            yield spool
            spool.seek(0)
            shutil.copyfileobj(spool, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    from sieve.files import whole_file

    with whole_file(path) as partial, partial.open("wb") as file:
        yield file
