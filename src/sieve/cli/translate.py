"""Translate line by line: each input line gives one output line; an empty line stays empty.

Reads standard input and writes standard output by default. Lines from a pipe are translated as
they arrive. With --input and --output, an interrupted run resumes when rerun; if the model, the
input or an option has changed, it starts over and says so. Long lines are split into sentences
and joined again.

An --input that is a document (docx, HTML, Markdown, …: docs/documents.md) is translated as a whole,
with everything but its words in place.

Examples:
  echo "Make yourself at home!" | sieve translate models/en-de
  sieve translate models/en-de --selection nvs:0.99 < news.en > news.de
  sieve translate models/en-de --selection none --json < news.en | jq .score
  sieve translate models/en-de --input news.en --output news.de --device cuda --precision float16
  sieve translate models/en-de --exclude Haus --include Eigenheim < house.en
  sieve translate models/en-de --input report.en.docx --output report.de.docx
"""

import argparse
import dataclasses
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import sieve
from sieve.cli.documents import document_format, run_document
from sieve.cli.lines import (
    arriving_lines,
    as_json,
    as_line,
    decode,
    open_input,
    standard_input,
)
from sieve.cli.model_options import add_model_arguments, open_translator
from sieve.engines.options import Sampling, SearchOptions
from sieve.errors import ConfigError, InputError
from sieve.log import progress

if TYPE_CHECKING:
    from tqdm import tqdm

    from sieve.translate.resumable import ResumableFile
    from sieve.translate.translation import Request, Translation
    from sieve.translate.translator import Translator

_CHUNK = 1024  # lines of a file translated at a time: enough to sort into even batches
_NO_MATTER = ("verbose", "model", "input", "output", "threads", "glossary")
"""Options that change no output, or whose content is noted instead."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve translate`."""
    parser.add_argument("model", metavar="MODEL", help="model directory")
    add_model_arguments(parser)
    files = parser.add_argument_group("files")
    files.add_argument("--input", type=Path, metavar="FILE", help="default: standard input")
    files.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")
    files.add_argument("--json", action="store_true", help="one JSON object per line")
    files.add_argument(
        "--format",
        metavar="NAME",
        help="of a document: docx, html, markdown, …; lines: line by line, whatever it is "
        "(default: what --input is by content and name, else lines)",
    )
    words = parser.add_argument_group("words")
    words.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="WORD",
        help="allow this word; repeatable",
    )
    words.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="WORD",
        help="forbid this word; repeatable",
    )
    words.add_argument(
        "--glossary",
        type=Path,
        metavar="TSV",
        help="lines of phrase, tab, translation",
    )
    words.add_argument(
        "--glossary-mode",
        choices=["allow", "force"],
        default="allow",
        help="whether its translations may or must be used (default: %(default)s)",
    )
    words.add_argument(
        "--prefix", default="", metavar="TEXT", help="start every translation with TEXT"
    )
    words.add_argument(
        "--no-repair",
        action="store_true",
        help="write what the model writes: names, numbers, times and capitals are not put right",
    )
    _add_search_arguments(parser.add_argument_group("search"))


def _add_search_arguments(group: Any) -> None:
    default = SearchOptions()
    numbers: list[tuple[str, type, float, str, str]] = [
        ("--beam-size", int, default.beam_size, "N", "hypotheses kept; 1 is greedy search"),
        ("--n-best", int, 1, "N", "translations per line; requires --json"),
        ("--length-penalty", float, default.length_penalty, "A", "rank by score / length**A"),
        ("--max-length-factor", float, default.max_length_factor, "X",
         "limit the length to X times the source tokens plus ten"),
        ("--temperature", float, 1.0, "X", "for --sample"),
        ("--top-k", int, 0, "N", "--sample from the N most probable tokens; 0: from all"),
    ]  # fmt: skip
    for name, kind, value, metavar, text in numbers:
        text = f"{text} (default: %(default)s)"
        group.add_argument(name, type=kind, default=value, metavar=metavar, help=text)
    group.add_argument("--sample", type=int, metavar="SEED", help="sample instead of searching")
    group.add_argument(
        "--stop",
        choices=["exact", "first"],
        default=default.stop,
        help="exact: when no better translation is possible; first: when --beam-size translations "
        "are complete (default: %(default)s)",
    )
    group.add_argument(
        "--lossless",
        action="store_true",
        help="same output as without selection; with --beam-size 1 the shortlist is used for a "
        "draft that is then checked, a wider beam searches the whole vocabulary",
    )
    group.add_argument(
        "--alignment",
        action="store_true",
        help="add the source piece of each output piece; requires --json",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve translate`."""
    if arguments.n_best > 1 and not arguments.json:
        raise ConfigError(f"--n-best {arguments.n_best} requires --json")
    request = _request(arguments)
    format = document_format(arguments)
    if format is not None:
        run_document(lambda: open_translator(arguments), request, format, arguments)
        return
    output = _resumable(arguments)
    if output is None:
        _translate_stream(open_translator(arguments), request, arguments)
        return
    with output:
        _translate_file(open_translator(arguments), request, arguments, output)


def _request(arguments: argparse.Namespace) -> "Request":
    from sieve.repair.glossary import Glossary
    from sieve.translate.translation import Request

    sampling = None
    if arguments.sample is not None:
        sampling = Sampling(arguments.sample, arguments.temperature, arguments.top_k)
    options = SearchOptions(
        beam_size=arguments.beam_size,
        n_best=arguments.n_best,
        length_penalty=arguments.length_penalty,
        max_length_factor=arguments.max_length_factor,
        stop=arguments.stop,
        sampling=sampling,
        lossless=arguments.lossless,
        alignment=arguments.alignment,
    )
    words = tuple(arguments.include), tuple(arguments.exclude)
    glossary = None if arguments.glossary is None else Glossary.read(arguments.glossary)
    forced = arguments.glossary_mode == "force"
    return Request(
        arguments.selection, options, *words, (), glossary, forced, not arguments.no_repair
    )


def _begun(request: "Request", arguments: argparse.Namespace, number: int) -> "Request":
    """The request for some lines, all of which begin with --prefix."""
    if not arguments.prefix:
        return request
    return dataclasses.replace(request, prefixes=(arguments.prefix,) * number)


def _line(translation: "Translation", arguments: argparse.Namespace) -> bytes:
    """A translation as a line of the output."""
    return as_json(translation.to_dict()) if arguments.json else as_line(translation.text)


def _translate_stream(
    translator: "Translator", request: "Request", arguments: argparse.Namespace
) -> None:
    """Lines as they arrive; from a pipe, an answer never waits for more input."""
    from sieve.files import whole_file

    with ExitStack() as stack:
        read: Callable[[int], bytes] = _read_standard_input
        target: BinaryIO = sys.stdout.buffer
        if arguments.input:
            read = stack.enter_context(open_input(arguments.input)).read
        if arguments.output:
            path = stack.enter_context(whole_file(arguments.output))
            target = stack.enter_context(path.open("wb"))
        for lines in arriving_lines(read):
            for translation in translator.run(lines, _begun(request, arguments, len(lines))):
                target.write(_line(translation, arguments))
            target.flush()


def _read_standard_input(size: int) -> bytes:
    return os.read(standard_input().fileno(), size)


def _resumable(arguments: argparse.Namespace) -> "ResumableFile | None":
    """The output of a run that can be resumed: from a file into a file."""
    from sieve.files import replaceable
    from sieve.translate.resumable import ResumableFile

    if not arguments.input or not arguments.output or not arguments.input.is_file():
        return None
    output = replaceable(arguments.output)
    if output is None:
        return None
    if output.exists() and output.samefile(arguments.input):
        raise InputError(f"{arguments.output}: is also the input; choose another --output")
    return ResumableFile(output, _made_with(arguments))


def _made_with(arguments: argparse.Namespace) -> dict[str, str]:
    """What the lines of an output depend on: options, input, glossary, model and version."""
    from sieve.bundle.directory import open_bundle
    from sieve.bundle.integrity import content_hashes
    from sieve.files import file_hash
    from sieve.importers.opening import model_directory

    status = arguments.input.stat()
    made_with = {
        f"--{name.replace('_', '-')}": str(value)
        for name, value in vars(arguments).items()
        if name not in _NO_MATTER
    }
    made_with["input"] = f"{arguments.input.resolve()} {status.st_size} {status.st_mtime_ns}"
    made_with["version of Sieve"] = sieve.__version__
    if arguments.glossary:
        made_with["glossary"] = file_hash(arguments.glossary)
    model = open_bundle(model_directory(arguments.model)).directory
    return made_with | content_hashes(model)


def _translate_file(
    translator: "Translator",
    request: "Request",
    arguments: argparse.Namespace,
    output: "ResumableFile",
) -> None:
    """File to file, resuming where an interrupted run stopped."""
    with open_input(arguments.input) as source:
        number = sum(1 for _ in zip(range(output.resume()), source, strict=False))
        size = arguments.input.stat().st_size
        bar: tqdm[Any] = progress(total=size, unit="B", label=arguments.input.name)
        bar.update(source.tell())
        while raw_lines := [line for _, line in zip(range(_CHUNK), source, strict=False)]:
            lines = [decode(raw, number + i) for i, raw in enumerate(raw_lines, start=1)]
            translations = translator.run(lines, _begun(request, arguments, len(lines)))
            output.write([_line(translation, arguments) for translation in translations])
            number += len(lines)
            bar.update(sum(map(len, raw_lines)))
        bar.close()
