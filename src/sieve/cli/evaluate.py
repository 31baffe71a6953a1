"""Measure a model: quality, selection and speed on test sets, one table a set.

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

    from sieve.evaluation.curve import Curve
    from sieve.evaluation.idioms import IdiomSet, ProverbSet
    from sieve.evaluation.scopes import ScopeRow
    from sieve.evaluation.sets import ParallelSet
    from sieve.evaluation.summary import Table
    from sieve.evaluation.table import Row, TableOptions
    from sieve.inference.translator import Translator

SELECTIONS = "none,lexicon:200,lexicon:1000,nvs:0.99,nvs:0.9,nvs:0.5"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve evaluate`."""
    parser.add_argument("models", nargs="+", metavar="MODEL", help="model directories")
    sets: dict[str, Any] = {"nargs": "+", "action": "extend", "default": [], "metavar": "SET"}
    parser.add_argument("--test", help="test sets", **sets)
    parser.add_argument("--idioms", help="sets of idioms or proverbs", **sets)
    parser.add_argument(
        "--selection",
        metavar="LIST",
        help=f"ways to select, comma between them (default: {SELECTIONS}, those that the model "
        "can do); none is always measured",
    )
    parser.add_argument("--lexicon", type=Path, metavar="DIR", help="instead of the model's own")
    parser.add_argument("--sentences", type=int, metavar="N", help="only the first N of each set")
    parser.add_argument(
        "--curve",
        action="store_true",
        help="recall against mean set size for many thresholds and k; translates nothing",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables")
    parser.add_argument(
        "--figure", type=Path, metavar="STEM", help="of --curve: write STEM.png and STEM.svg"
    )
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
    _check(arguments)
    translators = {model: opened(model, arguments) for model in arguments.models}
    found, content = (_curves if arguments.curve else _tables)(translators, arguments)
    sys.stdout.write("\n".join(table.as_text() for table in found))
    if arguments.json:
        from sieve.files import write_json

        write_json(arguments.json, {"command": " ".join(["sieve", *sys.argv[1:]]), **content})
    if arguments.markdown:
        text = "\n".join(table.as_markdown() for table in found)
        arguments.markdown.write_text(text, encoding="utf-8")


def _check(arguments: argparse.Namespace) -> None:
    """What can be said before any model is opened."""
    if not arguments.test and not arguments.idioms:
        raise ConfigError("nothing to evaluate: give test sets with --test SET … or --idioms SET …")
    if len(set(arguments.models)) < len(arguments.models):
        raise ConfigError(f"got {' '.join(arguments.models)}, expected different models")
    for name in ("sentences", "latency_sentences"):
        least, value = int(name == "sentences"), getattr(arguments, name)
        if value is not None and value < least:
            option = name.replace("_", "-")
            raise ConfigError(f"--{option}: got {value}, expected {least} or more")
    if arguments.figure and not arguments.curve:
        raise ConfigError("--figure: is drawn with --curve")
    for path in filter(None, (arguments.json, arguments.markdown, arguments.figure)):
        if path.is_dir() or not path.parent.is_dir():
            raise InputError(
                f"{path}: cannot be written: expected a file in a directory that is there"
            )
    if arguments.comet is not None:
        from sieve.evaluation.comet import checkpoint

        checkpoint(arguments.comet)


Translators = dict[str, "Translator"]
Found = tuple["list[Table]", dict[str, Any]]


def _tables(translators: Translators, arguments: argparse.Namespace) -> Found:
    from sieve.evaluation.scopes import measure_scopes, scope_tables
    from sieve.evaluation.summary import summarise, tables
    from sieve.evaluation.table import measure, steps

    first = next(iter(translators.values()))
    options = _options(arguments, first)
    sets, idioms = _sets(first, arguments), _idioms(first, arguments)
    rows: list[Row] = []
    scopes: list[ScopeRow] = []
    total = len(translators) * (steps(sets, options) + len(idioms))
    bar: tqdm[Any] = progress(total=total, unit="line", label="evaluate")
    with bar:
        for model, translator in translators.items():
            for one in sets:
                rows += measure(translator, model, one, options, bar.update)
            for some in idioms:
                scopes += measure_scopes(translator, model, some, options.selections)
                bar.update(1)
    content = {
        "summary": [asdict(one) for one in summarise(rows)],
        "rows": [asdict(row) for row in rows],
        "idioms": [asdict(row) for row in scopes],
    }
    return [*tables(rows), *scope_tables(scopes)], content


def _curves(translators: Translators, arguments: argparse.Namespace) -> Found:
    from sieve.evaluation.curve import measure_curves
    from sieve.evaluation.probes import Probe
    from sieve.evaluation.scopes import curve_tables

    first = next(iter(translators.values()))
    sets, idioms = _sets(first, arguments), _idioms(first, arguments)
    curves: list[Curve] = []
    for model, translator in translators.items():
        words, resources = translator.tokenizers, translator.resources
        probes = [
            Probe.of_text(one.name, words, one.sources, {"sentence": one.references})
            for one in sets
        ]
        probes += [probe for some in idioms for probe in some.probes(words)]
        lexicon = resources.lexicon() if resources.lexicon else None
        head = resources.threshold is not None
        if lexicon is None and not head:
            raise InputError(f"{model}: has neither a selection head nor a lexicon (--lexicon)")
        total = sum(len(probe.src_ids) for probe in probes)
        bar: tqdm[Any] = progress(total=total, unit="line", label="curve")
        with bar:
            for probe in probes:
                found = measure_curves(
                    translator.engine, probe, lexicon, head=head, done=bar.update
                )
                curves += [replace(curve, model=model) for curve in found]
    if arguments.figure:
        from sieve.evaluation.report import draw_curves

        for path in draw_curves(curves, arguments.figure):
            logger.info("wrote %s", path)
    engines = {model: str(translator.engine) for model, translator in translators.items()}
    content = {"engines": engines, "curves": [asdict(curve) for curve in curves]}
    return curve_tables(curves), content


def opened(model: str, arguments: argparse.Namespace) -> "Translator":
    """The translator of a model, with the lexicon of --lexicon where one is given."""
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
        own = partial(Lexicon.open, arguments.lexicon)
        translator.resources = replace(translator.resources, lexicon=own)
    logger.info("%s: engine %s", model, translator.engine)
    return translator


def selections(text: str | None, translator: "Translator") -> tuple[str, ...]:
    """The selections of a list; by default those of the paper that the model can do."""
    resources = translator.resources
    names = [name.strip() for name in (text or SELECTIONS).split(",") if name.strip()]
    if text is None:
        unable = {"lexicon": resources.lexicon is None, "nvs": resources.threshold is None}
        names = [name for name in names if not unable.get(name.partition(":")[0])]
    for name in names:
        translator.selector(name)  # errors now
    return tuple(dict.fromkeys(names))


def _options(arguments: argparse.Namespace, translator: "Translator") -> "TableOptions":
    from sieve.evaluation.table import TableOptions

    names = selections(arguments.selection, translator)
    search = SearchOptions(beam_size=arguments.beam_size)
    return TableOptions(names, search, arguments.latency_sentences, comet=arguments.comet)


def _sets(translator: "Translator", arguments: argparse.Namespace) -> "list[ParallelSet]":
    from sieve.evaluation.sets import check_languages, read_set

    sets = [
        read_set(text, translator.languages).first(arguments.sentences) for text in arguments.test
    ]
    _different([one.name for one in sets])
    if not arguments.no_language_check:
        for one in sets:
            check_languages(one, translator.languages)
    return sets


def _idioms(
    translator: "Translator", arguments: argparse.Namespace
) -> "list[IdiomSet | ProverbSet]":
    from sieve.evaluation.idioms import read_idioms

    sets = [read_idioms(text, translator.languages) for text in arguments.idioms]
    _different([one.name for one in sets])
    for one in sets:
        logger.info("%s", one)
    return [one.first(arguments.sentences) for one in sets]


def _different(names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise InputError(f"sets: got the names {', '.join(names)}, expected different ones")
