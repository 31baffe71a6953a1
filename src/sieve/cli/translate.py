"""Translate line by line: each input line gives one output line; an empty line stays empty.

Reads standard input and writes standard output by default. Lines from a pipe are translated as
they arrive. With --input and --output, an interrupted run resumes when rerun; if the model, the
input or an option has changed, it starts over and says so. Long lines are split into sentences
and joined again.

An --input that is a document (docx, HTML, Markdown, …: docs/documents.md) is translated as a whole,
with everything but its words in place. A TEXT among the arguments is translated instead of what
there is to read. Input is text in UTF-8, or with its byte order mark in UTF-16. Files of lines may
be compressed (.gz, .zst, .bz2), the output by the ending of its name.

Examples:
  sieve translate en-de "Make yourself at home!"
  echo "Make yourself at home!" | sieve translate models/en-de
  sieve translate models/en-de --selection nvs:0.99 < news.en > news.de
  sieve translate models/en-de --selection none --json < news.en | jq .score
  sieve translate models/en-de --input news.en --output news.de --device cuda --precision float16
  sieve translate models/en-de --exclude Haus --include Eigenheim < house.en
  sieve translate models/en-de --input report.en.docx --output report.de.docx
  sieve translate models/en-de --input corpus.en.gz --output corpus.3.de.gz --shard 3/20
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sieve.cli.documents import document_format, run_document
from sieve.cli.line_by_line import Lines, resumable, translate_file, translate_stream
from sieve.cli.lines import is_compressed
from sieve.cli.model_options import add_model_arguments, open_translator
from sieve.cli.request_options import add_request_arguments, request_of
from sieve.cli.translated_pieces import in_pieces, translate_in_pieces
from sieve.errors import ConfigError
from sieve.log import logger

if TYPE_CHECKING:
    from sieve.translate.translation import Request


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve translate`."""
    parser.add_argument(
        "model", metavar="MODEL", help="model directory, run directory or built-in model"
    )
    parser.add_argument(
        "text", nargs="*", default=[], metavar="TEXT", help="to translate instead of standard input"
    )
    add_model_arguments(parser)
    files = parser.add_argument_group("files")
    files.add_argument("--input", type=Path, metavar="FILE", help="default: standard input")
    files.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")
    files.add_argument("--json", action="store_true", help="one JSON object per line")
    files.add_argument(
        "--quality",
        action="store_true",
        help="say how good each translation is likely to be (slower); requires --json",
    )
    files.add_argument(
        "--format",
        metavar="NAME",
        help="of a document: docx, html, markdown, …; lines: line by line, whatever it is "
        "(default: what --input is by content and name, else lines)",
    )
    files.add_argument(
        "--columns",
        type=lambda text: tuple(filter(None, text.split(","))),
        default=(),
        metavar="NAME,…",
        help="of a table in csv or tsv, by name or by number from 1 (default: those of text)",
    )
    files.add_argument(
        "--shard",
        metavar="K/N",
        help="translate the Kth of N parts of the lines of --input; the outputs of all parts, one "
        "behind the other, are the whole",
    )
    search = add_request_arguments(parser)
    search.add_argument(
        "--n-best",
        type=int,
        default=1,
        metavar="N",
        help="translations per line; requires --json (default: %(default)s)",
    )
    search.add_argument(
        "--alignment",
        action="store_true",
        help="add the source piece of each output piece; requires --json",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve translate`."""
    if arguments.n_best > 1 and not arguments.json:
        raise ConfigError(f"--n-best {arguments.n_best} requires --json")
    if arguments.quality and not arguments.json:
        raise ConfigError("--quality requires --json")
    arguments.text = _text(arguments)
    request = request_of(arguments)
    if in_pieces(arguments):
        translate_in_pieces(request, arguments)
        return
    format = None if is_compressed(arguments.input) else document_format(arguments)
    if format is not None:
        run_document(lambda: open_translator(arguments), request, format, arguments)
        return
    output = resumable(arguments)
    if output is None:
        translate_stream(_lines(request, arguments), arguments)
        return
    with output:
        translate_file(_lines(request, arguments), arguments, output)


def _lines(request: "Request", arguments: argparse.Namespace) -> Lines:
    return Lines(open_translator(arguments), request, arguments.prefix, arguments.json)


def _text(arguments: argparse.Namespace) -> str | None:
    """The text that was given as an argument; it is never taken for the name of a file."""
    if not arguments.text:
        return None
    if len(arguments.text) > 1:
        raise ConfigError(
            f"got {len(arguments.text)} texts, expected one: put quotes around it; "
            "files are given with --input"
        )
    (text,) = arguments.text
    if arguments.input:
        raise ConfigError(f"got the text '{text}' and --input, expected one of them")
    if Path(text).is_file():
        logger.warning("'%s' is translated as text; for the file: --input %s", text, text)
    return str(text)
