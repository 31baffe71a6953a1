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
  sieve evaluate model --context --idioms mine.tsv
"""

import argparse
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sieve.cli.models import SELECTIONS, check_writable, opened, selections
from sieve.cli.translate import add_engine_arguments
from sieve.errors import ConfigError, InputError
from sieve.inference.options import SearchOptions
from sieve.log import logger, progress

if TYPE_CHECKING:
    from tqdm import tqdm

    from sieve.evaluation.context import ContextRow
    from sieve.evaluation.curve import Curve
    from sieve.evaluation.idioms import IdiomSet, ProverbSet
    from sieve.evaluation.scopes import ScopeRow
    from sieve.evaluation.sets import ParallelSet
    from sieve.evaluation.summary import Table
    from sieve.evaluation.table import Row, TableOptions
    from sieve.inference.translator import Translator


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
    parser.add_argument(
        "--lexicon",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="instead of the model's own: one for all models, or one for each",
    )
    parser.add_argument("--sentences", type=int, metavar="N", help="only the first N of each set")
    parser.add_argument(
        "--curve",
        action="store_true",
        help="recall against mean set size for many thresholds and k; translates nothing",
    )
    parser.add_argument(
        "--context",
        action="store_true",
        help="of --idioms: the head on whole sentences against their words one by one",
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
    lexicons = arguments.lexicon or [None]
    if len(lexicons) == 1:
        lexicons = lexicons * len(arguments.models)
    pairs = zip(arguments.models, lexicons, strict=True)
    translators = {model: opened(model, lexicon, arguments) for model, lexicon in pairs}
    measure = _curves if arguments.curve else _contexts if arguments.context else _tables
    found, content = measure(translators, arguments)
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
    if arguments.comet is not None:
        from sieve.evaluation.comet import checkpoint

        checkpoint(arguments.comet)


def _check_modes(arguments: argparse.Namespace) -> None:
    """Whether the options fit together."""
    if arguments.curve and arguments.context:
        raise ConfigError("got --curve and --context, expected one of them")
    if arguments.context and not arguments.idioms:
        raise ConfigError("--context: needs sets of idioms (--idioms SET …)")
    if arguments.figure and not arguments.curve:
        raise ConfigError("--figure: is drawn with --curve")


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


def _contexts(translators: Translators, arguments: argparse.Namespace) -> Found:
    from sieve.evaluation.context import context_tables, measure_context
    from sieve.evaluation.idioms import IdiomSet

    found: list[Table] = []
    content: dict[str, Any] = {"context": {}}
    for model, translator in translators.items():
        rows: list[ContextRow] = []
        for one in _idioms(translator, arguments):
            if not isinstance(one, IdiomSet):
                raise InputError(
                    f"--context: {one.name} has proverbs, expected idioms in sentences"
                )
            bar: tqdm[Any] = progress(total=len(one.idioms), unit="line", label="context")
            with bar:
                rows += measure_context(translator, one, done=bar.update)
        found += [replace(t, title=f"{t.title} ({model})") for t in context_tables(rows)]
        content["context"][model] = [asdict(row) for row in rows]
    return found, content


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
