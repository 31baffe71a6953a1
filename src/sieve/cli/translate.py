"""Translate lines: one in, one out, in order; an empty line stays empty.

Lines come from standard input and go to standard output. From a pipe, an answer never waits for
more input: whatever lines are there are translated at once.

Examples:
  echo "Make yourself at home!" | sieve translate models/en-de
  sieve translate models/en-de --selection nvs:0.99 < news.en > news.de
  sieve translate models/en-de --selection none --json < news.en | jq .score
"""

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterator

from sieve.inference.engine import SearchOptions
from sieve.log import logger

_READ = 1 << 20  # bytes; a pipe gives less, at once


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve translate`."""
    parser.add_argument("model", metavar="MODEL", help="model directory")
    parser.add_argument(
        "--selection",
        help="none, frequent:N, lexicon:K, nvs or nvs:LAMBDA, joined by + "
        "(default: nvs at the model's own threshold where it has a head, else none)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    parser.add_argument(
        "--precision",
        choices=["float32", "bfloat16", "float16"],
        default="float32",
        help="of the arithmetic (default: %(default)s)",
    )
    parser.add_argument(
        "--max-length-factor",
        type=float,
        default=SearchOptions.max_length_factor,
        metavar="X",
        help="cut translations at X times the source tokens plus ten (default: %(default)s)",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve translate`."""
    from sieve.inference.load import load

    options = SearchOptions(max_length_factor=arguments.max_length_factor)
    translator = load(arguments.model, device=arguments.device, precision=arguments.precision)
    selector = translator.selector(arguments.selection)
    logger.info("engine torch on %s, selection %s", arguments.device, selector)
    for lines in _arriving_lines(lambda size: os.read(sys.stdin.fileno(), size)):
        for translation in translator.translate(
            lines, selection=arguments.selection, options=options
        ):
            if arguments.json:
                text = json.dumps(dataclasses.asdict(translation), ensure_ascii=False)
            else:
                text = " ".join(translation.text.splitlines())
            sys.stdout.buffer.write(text.encode("utf-8", errors="replace") + b"\n")
        sys.stdout.buffer.flush()


def _arriving_lines(read: Callable[[int], bytes]) -> Iterator[list[str]]:
    """Whole lines as they arrive, all that are there at a time; the last may lack its newline."""
    rest = b""
    number = 0  # lines given out so far
    while data := read(_READ):
        *raw_lines, rest = (rest + data).split(b"\n")
        if raw_lines:
            yield [_decode(raw, number + i) for i, raw in enumerate(raw_lines, start=1)]
            number += len(raw_lines)
    if rest:
        yield [_decode(rest, number + 1)]


def _decode(raw: bytes, number: int) -> str:
    try:
        return raw.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError as error:
        logger.warning(
            "line %d: invalid UTF-8 at byte %d, unreadable characters were replaced",
            number,
            error.start + 1,
        )
        return raw.decode("utf-8", errors="replace").rstrip("\r")
