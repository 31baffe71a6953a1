"""Measure a model: quality, selection and speed on test sets, one table a set.

A SET is NAME=SRC,TGT or SRC,TGT (two files of parallel lines), or a prefix: for a model from en to
de, news stands for news.en and news.de. Several models (seeds) give mean ± standard deviation.

Examples:
  sieve evaluate model --test newstest2019.en-de --selection none,nvs:0.99,nvs:0.9,nvs:0.5
  sieve evaluate model --lexicon lexicon --test news=news.en,news.de --selection lexicon:200,nvs:0.9
  sieve evaluate seed1 seed2 seed3 --test news.en-de --json result.json --markdown result.md
"""

import argparse
import sys
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sieve.cli.translate import add_engine_arguments
from sieve.errors import ConfigError, InputError
from sieve.inference.options import SearchOptions
from sieve.log import logger, progress

if TYPE_CHECKING:
    from tqdm import tqdm

    from sieve.evaluation.sets import ParallelSet
    from sieve.evaluation.table import Row, TableOptions
    from sieve.inference.translator import Translator

SELECTIONS = "none,lexicon:200,lexicon:1000,nvs:0.99,nvs:0.9,nvs:0.5"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve evaluate`."""
    parser.add_argument("models", nargs="+", metavar="MODEL", help="model directories")
    parser.add_argument(
        "--test", nargs="+", action="extend", default=[], metavar="SET", help="test sets"
    )
    parser.add_argument(
        "--selection",
        metavar="LIST",
        help=f"ways to select, comma between them (default: {SELECTIONS}, those that the model "
        "can do); none is always measured",
    )
    parser.add_argument("--lexicon", type=Path, metavar="DIR", help="instead of the model's own")
    parser.add_argument("--sentences", type=int, metavar="N", help="only the first N of each set")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables")
    parser.add_argument("--beam-size", type=int, default=SearchOptions().beam_size, metavar="N")
    parser.add_argument(
        "--latency-sentences",
        type=int,
        default=100,
        metavar="N",
        help="sentences timed one at a time; 0: no latency (default: %(default)s)",
    )
    parser.add_argument(
        "--comet", type=Path, metavar="DIR", help="a COMET checkpoint on this machine"
    )
    parser.add_argument(
        "--no-language-check", action="store_true", help="take sets of any language"
    )
    add_engine_arguments(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve evaluate`."""
    if not arguments.test:
        raise ConfigError("nothing to evaluate: give test sets with --test SET …")
    if len(set(arguments.models)) < len(arguments.models):
        raise ConfigError(f"got {' '.join(arguments.models)}, expected different models")
    for name in ("sentences", "latency_sentences"):
        least, value = int(name == "sentences"), getattr(arguments, name)
        if value is not None and value < least:
            option = name.replace("_", "-")
            raise ConfigError(f"--{option}: got {value}, expected {least} or more")
    for path in filter(None, (arguments.json, arguments.markdown)):
        _check_writable(path)
    _tables(arguments)


def _tables(arguments: argparse.Namespace) -> None:
    from sieve.evaluation.comet import checkpoint
    from sieve.evaluation.summary import summarise, tables
    from sieve.evaluation.table import measure, steps
    from sieve.files import write_json

    if arguments.comet is not None:
        checkpoint(arguments.comet)  # said now, not after an hour
    translators = [_opened(model, arguments) for model in arguments.models]
    options = _options(arguments, translators[0])
    rows: list[Row] = []
    read = [_sets(translator, arguments) for translator in translators]
    bar: tqdm[Any] = progress(
        total=sum(steps(sets, options) for sets in read), unit="line", label="evaluate"
    )
    with bar:
        for model, translator, sets in zip(arguments.models, translators, read, strict=True):
            for one in sets:
                rows += measure(translator, model, one, options, bar.update)
    found = tables(rows)
    sys.stdout.write("\n".join(table.as_text() for table in found))
    if arguments.json:
        content = {
            "command": " ".join(["sieve", *sys.argv[1:]]),
            "summary": [asdict(one) for one in summarise(rows)],
            "rows": [asdict(row) for row in rows],
        }
        write_json(arguments.json, content)
    if arguments.markdown:
        arguments.markdown.write_text(
            "\n".join(table.as_markdown() for table in found), encoding="utf-8"
        )


def _opened(model: str, arguments: argparse.Namespace) -> "Translator":
    from sieve.inference.load import load
    from sieve.selection.lexicon import Lexicon

    translator = load(
        model,
        engine=arguments.engine,
        device=arguments.device,
        precision=arguments.precision,
        threads=arguments.threads,
    )
    if arguments.lexicon is not None:
        lexicon = Lexicon.open(arguments.lexicon)
        source, target = translator.tokenizers.source, translator.tokenizers.target
        sizes = lexicon.src_vocab_size, lexicon.tgt_vocab_size
        if sizes != (source.vocab_size, target.vocab_size):
            raise InputError(
                f"{arguments.lexicon}: is of {sizes[0]} source and {sizes[1]} target words, the "
                f"model has {source.vocab_size} and {target.vocab_size}"
            )
        resources = replace(translator.resources, lexicon=partial(Lexicon.open, arguments.lexicon))
        translator.resources = resources
    logger.info("%s: engine %s", model, translator.engine)
    return translator


def _options(arguments: argparse.Namespace, translator: "Translator") -> "TableOptions":
    from sieve.evaluation.table import TableOptions

    resources = translator.resources
    text = arguments.selection or SELECTIONS
    names = [name.strip() for name in text.split(",") if name.strip()]
    if arguments.selection is None:  # what this model can do
        unable = {"lexicon": resources.lexicon is None, "nvs": resources.threshold is None}
        names = [name for name in names if not unable.get(name.partition(":")[0])]
    for name in names:
        translator.selector(name)  # errors now
    search = SearchOptions(beam_size=arguments.beam_size)
    latency = arguments.latency_sentences
    return TableOptions(tuple(names), search, latency, comet=arguments.comet)


def _sets(translator: "Translator", arguments: argparse.Namespace) -> "list[ParallelSet]":
    from sieve.evaluation.sets import check_languages, read_set

    sets = []
    for text in arguments.test:
        one = read_set(text, translator.languages).first(arguments.sentences)
        if not arguments.no_language_check:
            check_languages(one, translator.languages)
        sets.append(one)
    names = [one.name for one in sets]
    if len(set(names)) < len(names):
        raise InputError(f"test sets: got the names {', '.join(names)}, expected different ones")
    return sets


def _check_writable(path: Path) -> None:
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(
            f"{path}: cannot be written: {'is' if path.is_dir() else 'in no'} directory"
        )
