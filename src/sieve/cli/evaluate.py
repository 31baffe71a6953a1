"""Measure a model: quality, selection and speed on test sets, one table per set.

A SET is NAME=SRC,TGT or SRC,TGT (two files of parallel lines), or a prefix: for a model from en to
de, news stands for news.en and news.de. Several models (seeds) give mean ± standard deviation.

An idiom SET is a prefix with an .info file (IdiomTranslationDS), a .tsv with the columns sentence,
reference, idiom and its translation, or LITERAL,IDIOMATIC (two prefixes of proverbs). Recall is
that of the sentence's tokens and, in idiom scope, (a) of the translation's tokens when words are
selected from the idiom alone, (b) the same from the sentence, (c) of those in the reference.

Examples:
  sieve evaluate model --test newstest2019.en-de --selection none,nvs:0.99,nvs:0.9,nvs:0.5
  sieve evaluate model --lexicon lexicon --test news=news.en,news.de --selection lexicon:200,nvs:0.9
  sieve evaluate seed1 seed2 seed3 --test news.en-de --json result.json --markdown result.md
  sieve evaluate model --idioms itds_idiom_test.en-de mine.tsv --selection lexicon:200,nvs:0.9
  sieve evaluate model --curve --test news.en-de --json curve.json --figure curve
  sieve evaluate model --context --idioms mine.tsv
  sieve evaluate model --aligners fast_align=lexicon eflomal=other --test news.en-de
"""

import argparse
import sys
from pathlib import Path

from sieve.cli.measured_models import (
    add_measured_arguments,
    add_metric_arguments,
    check_writable,
    opened,
)
from sieve.cli.model_options import add_engine_arguments
from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve evaluate`."""
    add_measured_arguments(parser)
    parser.add_argument(
        "--curve",
        action="store_true",
        help="recall against mean shortlist size for many thresholds and k; translates nothing",
    )
    parser.add_argument(
        "--context",
        action="store_true",
        help="for --idioms: the head on whole sentences and on each word alone",
    )
    parser.add_argument(
        "--aligners",
        nargs="+",
        metavar="NAME=DIR",
        help="compare lexicons by the recall of output and reference tokens",
    )
    parser.add_argument("--each", action="store_true", help="one table per model instead of means")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results as JSON")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the tables as Markdown"
    )
    parser.add_argument(
        "--figure", type=Path, metavar="STEM", help="write STEM.png and STEM.svg; requires --curve"
    )
    parser.add_argument("--beam-size", type=int, default=SearchOptions().beam_size, metavar="N")
    parser.add_argument(
        "--latency-sentences",
        type=int,
        default=100,
        metavar="N",
        help="sentences timed one by one; 0: no latency (default: %(default)s)",
    )
    add_metric_arguments(parser)
    parser.add_argument(
        "--no-language-check", action="store_true", help="accept sets in any language"
    )
    add_engine_arguments(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve evaluate`."""
    _check(arguments)
    from sieve.cli import evaluation_modes
    from sieve.cli.measured import write_measured

    lexicons = arguments.lexicon or [None]
    if len(lexicons) == 1:
        lexicons = lexicons * len(arguments.models)
    pairs = zip(arguments.models, lexicons, strict=True)
    translators = {model: opened(model, lexicon, arguments) for model, lexicon in pairs}
    modes = {
        "curve": evaluation_modes.measure_all_curves,
        "context": evaluation_modes.measure_contexts,
        "aligners": evaluation_modes.compare_aligners,
    }
    chosen = next((mode for mode in modes if getattr(arguments, mode)), "")
    measure = modes.get(chosen, evaluation_modes.measure_tables)
    tables, content = measure(translators, arguments)
    sys.stdout.write("\n".join(table.as_text() for table in tables))
    write_measured(arguments, tables, content)


def _check(arguments: argparse.Namespace) -> None:
    """Checks that need no model."""
    if not arguments.test and not arguments.idioms:
        raise ConfigError("nothing to evaluate: give test sets with --test SET … or --idioms SET …")
    if len(set(arguments.models)) < len(arguments.models):
        raise ConfigError(f"got {' '.join(arguments.models)}, expected different models")
    number = len(arguments.lexicon or [])
    if number not in (0, 1, len(arguments.models)):
        raise ConfigError(
            f"--lexicon: got {number} for {len(arguments.models)} models, expected one or as many"
        )
    _check_modes(arguments)
    for name in ("sentences", "latency_sentences"):
        least, value = int(name == "sentences"), getattr(arguments, name)
        if value is not None and value < least:
            option = name.replace("_", "-")
            raise ConfigError(f"--{option}: got {value}, expected {least} or more")
    for path in filter(None, (arguments.json, arguments.markdown, arguments.figure)):
        check_writable(path)


def _check_modes(arguments: argparse.Namespace) -> None:
    """Whether the options fit together."""
    given = [f"--{mode}" for mode in ("curve", "context", "aligners") if getattr(arguments, mode)]
    if len(given) > 1:
        raise ConfigError(f"got {' and '.join(given)}, expected one of them")
    if arguments.aligners and (not arguments.test or len(arguments.models) > 1):
        raise ConfigError("--aligners requires one model and test sets (--test SET …)")
    if arguments.context and not arguments.idioms:
        raise ConfigError("--context requires sets of idioms (--idioms SET …)")
    if arguments.figure and not arguments.curve:
        raise ConfigError("--figure requires --curve")
