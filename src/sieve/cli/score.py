"""Score given translations: the log-probability of each target line after its source line.

Prints one number per line, or a JSON object with the score of every piece. With a selection,
probabilities are over the shortlist; a token outside it gives a score of -inf (null).

With --back, a model of the other direction, it is a metric of translations without a reference, as
Prism is one: the log-probability of the target given the source and of the source given the target,
each per token over all tokens, and the mean of both.

Examples:
  sieve score models/en-de news.en news.de
  sieve score models/en-de news.en news.de --selection none --json | jq .normalized_score
  sieve score en-de news.en system.de --back de-en
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from sieve.cli.lines import as_json, decode, open_input
from sieve.cli.model_options import add_model_arguments, open_translator
from sieve.errors import InputError

if TYPE_CHECKING:
    from sieve.translate.translator import Translator

_CHUNK = 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve score`."""
    parser.add_argument("model", metavar="MODEL", help="model directory")
    parser.add_argument("source", type=Path, metavar="SRC", help="source lines")
    parser.add_argument("target", type=Path, metavar="TGT", help="their translations")
    add_model_arguments(parser)
    parser.add_argument("--back", metavar="MODEL", help="model of the other direction")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve score`."""
    pairs = _read_pairs(arguments.source, arguments.target)
    translator = open_translator(arguments)
    if arguments.back:
        _both_directions(translator, pairs, arguments)
        return
    for start in range(0, len(pairs), _CHUNK):
        chunk = pairs[start : start + _CHUNK]
        sources, targets = [source for source, _ in chunk], [target for _, target in chunk]
        for translation in translator.score(sources, targets, arguments.selection):
            if arguments.json:
                sys.stdout.buffer.write(as_json(translation.to_dict()))
            else:
                sys.stdout.buffer.write(f"{translation.score:.6f}\n".encode())
        sys.stdout.buffer.flush()


def _both_directions(
    translator: "Translator", pairs: Sequence[tuple[str, str]], arguments: argparse.Namespace
) -> None:
    from sieve.evaluate.measure.forced import NAME, PARTS, ForcedDecoding
    from sieve.translate.load import load

    if arguments.selection:
        raise InputError("--back: not with --selection: it scores over all tokens")
    judge = ForcedDecoding(translator, load(arguments.back))
    for start in range(0, len(pairs), _CHUNK):
        sources, targets = zip(*pairs[start : start + _CHUNK], strict=True)
        for parts in judge.sentences(sources, targets):
            mean = float(parts.mean())
            if arguments.json:
                line = {NAME: mean, **dict(zip(PARTS, parts.tolist(), strict=True))}
                sys.stdout.buffer.write(as_json(line))
            else:
                sys.stdout.buffer.write(f"{mean:.6f}\n".encode())
        sys.stdout.buffer.flush()


def _read_pairs(source: Path, target: Path) -> list[tuple[str, str]]:
    with open_input(source) as src_file, open_input(target) as tgt_file:
        pairs = []
        for number, (src, tgt) in enumerate(zip_longest(src_file, tgt_file), start=1):
            if src is None or tgt is None:
                shorter = source if src is None else target
                raise InputError(
                    f"{source} and {target}: unequal numbers of lines: "
                    f"{shorter} ends after line {number - 1}"
                )
            pairs.append((decode(src, number), decode(tgt, number)))
    return pairs
