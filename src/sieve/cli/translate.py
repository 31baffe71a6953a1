"""Translate lines: one in, one out, in order; an empty line stays empty.

Lines come from standard input and go to standard output. From a pipe, an answer never waits for
more input: whatever lines are there are translated at once. With --input and --output a run that
was interrupted goes on where it stopped. Long lines are split into sentences and joined again.

Examples:
  echo "Make yourself at home!" | sieve translate models/en-de
  sieve translate models/en-de --selection nvs:0.99 < news.en > news.de
  sieve translate models/en-de --selection none --json < news.en | jq .score
  sieve translate models/en-de --input news.en --output news.de --device cuda --precision float16
  sieve translate models/en-de --exclude Haus --include Eigenheim < house.en
  sieve translate models/en-de --format html --input page.en.html --output page.de.html
"""

import argparse
import dataclasses
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sieve.cli.documents import check_document_options, run_document
from sieve.cli.lines import arriving_lines as _arriving_lines
from sieve.cli.lines import as_json, as_line, decode
from sieve.engines.options import Sampling, SearchOptions
from sieve.errors import ConfigError, InputError
from sieve.log import logger, progress

if TYPE_CHECKING:
    from tqdm import tqdm

    from sieve.translate.translation import Request, Translation
    from sieve.translate.translator import Translator

_CHUNK = 1024  # lines of a file translated at a time: enough to sort into even batches


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve translate`."""
    parser.add_argument("model", metavar="MODEL", help="model directory")
    add_model_arguments(parser)
    files = parser.add_argument_group("files")
    files.add_argument("--input", type=Path, metavar="FILE", help="instead of standard input")
    files.add_argument("--output", type=Path, metavar="FILE", help="instead of standard output")
    files.add_argument("--json", action="store_true", help="one JSON object a line")
    files.add_argument(
        "--format",
        choices=["html", "markdown", "text"],
        help="a whole document: markup, code and layout stay, tags follow their words",
    )
    words = parser.add_argument_group("words")
    words.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="WORD",
        help="may be used; repeat for more",
    )
    words.add_argument(
        "--exclude", action="append", default=[], metavar="WORD", help="may not be used; repeat"
    )
    words.add_argument(
        "--glossary",
        type=Path,
        metavar="TSV",
        help="phrase, tab, translation a line; these translations may be used",
    )
    words.add_argument(
        "--glossary-mode",
        choices=["allow", "force"],
        default="allow",
        help="whether they may or must appear (default: %(default)s)",
    )
    words.add_argument("--prefix", default="", metavar="TEXT", help="what translations begin with")
    _add_search_arguments(parser.add_argument_group("search"))


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that say which words, engine, device and precision to use."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--selection",
        help="none, frequent:N, lexicon:K, nvs, nvs:LAMBDA or safe, joined by + "
        "(default: nvs at the model's own threshold where it has a head, else none)",
    )
    # selections with a value that the model's calibration knows
    which.add_argument(
        "--target-recall",
        dest="selection",
        type=lambda text: f"nvs:recall={text}+safe",
        metavar="R",
        help="sets that hold this share of the words the model writes without selection",
    )
    which.add_argument(
        "--max-words",
        dest="selection",
        type=lambda text: f"nvs:words={text}+safe",
        metavar="N",
        help="sets of at most N words, for 99 of 100 sentences, the safety set not counted",
    )
    add_engine_arguments(parser)


def add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that say which engine, device and precision to use."""
    parser.add_argument(
        "--engine",
        choices=["native", "torch"],
        help="native: C++ on a CPU; torch: also on a GPU (default: native where it can)",
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    parser.add_argument(
        "--precision",
        choices=["float32", "bfloat16", "float16"],
        help="of weights and arithmetic (default: as stored on the native engine, else float32)",
    )
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="sentences that the native engine translates side by side (default: one a core)",
    )


def _add_search_arguments(group: Any) -> None:
    default = SearchOptions()
    numbers: list[tuple[str, type, float, str, str]] = [
        ("--beam-size", int, default.beam_size, "N", "hypotheses kept; 1 is greedy search"),
        ("--n-best", int, 1, "N", "translations of each line, with --json"),
        ("--length-penalty", float, default.length_penalty, "A", "compare by score / length**A"),
        ("--max-length-factor", float, default.max_length_factor, "X",
         "cut translations at X times the source tokens plus ten"),
        ("--temperature", float, 1.0, "X", "of --sample"),
        ("--top-k", int, 0, "N", "--sample from the N most probable words; 0: from all"),
    ]  # fmt: skip
    for name, kind, value, metavar, text in numbers:
        text = f"{text} (default: %(default)s)"
        group.add_argument(name, type=kind, default=value, metavar=metavar, help=text)
    group.add_argument("--sample", type=int, metavar="SEED", help="draw tokens at random instead")
    group.add_argument(
        "--stop",
        choices=["exact", "first"],
        default=default.stop,
        help="when nothing better can follow, or when as many translations as the beam is wide "
        "have ended (default: %(default)s)",
    )
    group.add_argument(
        "--lossless",
        action="store_true",
        help="write what a search over all words writes; with --beam-size 1 the selected words "
        "are a guess that is checked, a beam searches all words",
    )
    group.add_argument(
        "--alignment", action="store_true", help="with --json: each piece's source piece"
    )


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve translate`."""
    if arguments.n_best > 1 and not arguments.json:
        raise ConfigError(f"--n-best {arguments.n_best} needs --json: lines out are lines in")
    request = _request(arguments)
    if arguments.format:
        check_document_options(arguments)
    translator = open_translator(arguments)
    if arguments.format:
        run_document(translator, request, arguments)
        return
    if arguments.input and arguments.output:
        _translate_file(translator, request, arguments)
        return
    read, write, close = _streams(arguments)
    try:
        for lines in _arriving_lines(read):
            for line in _translated(translator, lines, request, arguments):
                write.write(line)
            write.flush()
    finally:
        close()


def open_translator(arguments: argparse.Namespace) -> "Translator":
    """The translator that options of `add_model_arguments` ask for; says on stderr which."""
    from sieve.translate.load import load

    translator = load(
        arguments.model,
        engine=arguments.engine,
        device=arguments.device,
        precision=arguments.precision,
        threads=arguments.threads,
    )
    selector = translator.selector(arguments.selection)
    logger.info("engine %s, selection %s", translator.engine, selector)
    return translator


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
    return Request(arguments.selection, options, *words, (), glossary, forced)


def _translated(
    translator: "Translator", lines: list[str], request: "Request", arguments: argparse.Namespace
) -> Iterator[bytes]:
    if arguments.prefix:
        request = dataclasses.replace(request, prefixes=(arguments.prefix,) * len(lines))
    for translation in translator.run(lines, request):
        yield as_json(_fields(translation)) if arguments.json else as_line(translation.text)


def _fields(translation: "Translation") -> dict[str, Any]:
    fields = dataclasses.asdict(translation)
    for name in ("positions", "n_best"):
        if not fields[name]:
            del fields[name]  # nobody asked
    return fields


def _streams(
    arguments: argparse.Namespace,
) -> tuple[Callable[[int], bytes], Any, Callable[[], None]]:
    """How to read, what to write to, and what to close in the end."""
    source = open_input(arguments.input) if arguments.input else None
    target = arguments.output.open("wb") if arguments.output else None

    def close() -> None:
        for file in (source, target):
            if file is not None:
                file.close()

    read = source.read if source else (lambda size: os.read(sys.stdin.fileno(), size))
    return read, target or sys.stdout.buffer, close


def open_input(path: Path) -> Any:
    """A file to read bytes from, or one line that says why not."""
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _translate_file(
    translator: "Translator", request: "Request", arguments: argparse.Namespace
) -> None:
    """File to file; what is done is kept beside the output until all is."""
    job = _Job(arguments)
    with open_input(arguments.input) as source:
        done = job.resume()
        number = sum(1 for _ in zip(range(done), source, strict=False))
        size = arguments.input.stat().st_size
        bar: tqdm[Any] = progress(total=size, unit="B", label=arguments.input.name)
        bar.update(source.tell())
        with job.partial.open("ab") as target:
            while raw_lines := [line for _, line in zip(range(_CHUNK), source, strict=False)]:
                lines = [decode(raw, number + i) for i, raw in enumerate(raw_lines, start=1)]
                for line in _translated(translator, lines, request, arguments):
                    target.write(line)
                target.flush()
                number += len(lines)
                bar.update(sum(map(len, raw_lines)))
        bar.close()
    job.finish()


class _Job:
    """A translation of a file that may be interrupted: its lines so far, and what it was about."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.output: Path = arguments.output
        if self.output.is_dir():
            raise InputError(f"{self.output}: is a directory, expected a file to write")
        if self.output.exists() and self.output.samefile(arguments.input):
            raise InputError(f"{self.output}: is the input, too; choose another --output")
        self.partial = self.output.with_name(f".{self.output.name}.partial")
        self._note = self.output.with_name(f".{self.output.name}.partial.json")
        status = arguments.input.stat() if arguments.input.is_file() else None
        self._about = {
            key: str(value)
            for key, value in sorted(vars(arguments).items())
            if key not in ("verbose", "output")
        }
        self._about["input_size"] = str(status.st_size if status else 0)
        self._about["input_changed"] = str(status.st_mtime_ns if status else 0)

    def resume(self) -> int:
        """Lines that are done already; 0 after starting anew."""
        from sieve.files import read_json, write_json

        if self.partial.is_file() and self._note.is_file():
            if read_json(self._note) == self._about:
                return self._keep_whole_lines()
            logger.warning("%s: was made with other options or input; starting anew", self.partial)
        try:
            self.partial.write_bytes(b"")
        except OSError as error:
            raise InputError(f"{self.output}: cannot be written: {error.strerror}") from None
        write_json(self._note, self._about)
        return 0

    def _keep_whole_lines(self) -> int:
        lines = whole = 0
        with self.partial.open("rb+") as file:
            for line in file:
                if line.endswith(b"\n"):
                    lines, whole = lines + 1, whole + len(line)
            file.truncate(whole)
        if lines:
            logger.info("%s: going on after %d lines", self.output, lines)
        return lines

    def finish(self) -> None:
        """All lines are there: the output takes its name."""
        self.partial.replace(self.output)
        self._note.unlink()
