"""The ways `sieve evaluate` measures: each gives tables to show and values to write as JSON."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sieve.cli.measured_models import fitting_lexicon, selections
from sieve.engines.options import SearchOptions
from sieve.errors import InputError
from sieve.evaluate.measure.aligner_recall import AlignerRow, measure_aligners
from sieve.evaluate.measure.comet import Comet
from sieve.evaluate.measure.comparison import Row, TableOptions, measure, steps
from sieve.evaluate.measure.context import ContextRow, measure_context
from sieve.evaluate.measure.curve import Curve, measure_curves
from sieve.evaluate.measure.forced import ForcedDecoding
from sieve.evaluate.measure.idioms import IdiomSet, ProverbSet, read_idioms
from sieve.evaluate.measure.probes import Probe
from sieve.evaluate.measure.scopes import ScopeRow, measure_scopes
from sieve.evaluate.measure.sets import ParallelSet, check_languages, read_set
from sieve.evaluate.present.figures import draw_curves
from sieve.evaluate.present.quality_tables import quality_tables, summarise
from sieve.evaluate.present.recall_tables import (
    aligner_tables,
    context_tables,
    curve_tables,
    scope_tables,
)
from sieve.evaluate.present.text_table import Table
from sieve.log import logger, progress
from sieve.translate.load import load
from sieve.translate.translator import Translator

if TYPE_CHECKING:
    from tqdm import tqdm

Translators = dict[str, Translator]
Found = tuple[list[Table], dict[str, Any]]


def measure_tables(translators: Translators, arguments: argparse.Namespace) -> Found:
    """Quality, sets and latency on test sets; recall by scope on idiom sets."""
    first = next(iter(translators.values()))
    options = table_options(arguments, first)
    sets, idioms = test_sets(first, arguments), idiom_sets(first, arguments)
    rows: list[Row] = []
    scopes: list[ScopeRow] = []
    total = len(translators) * (steps(sets, options) + len(idioms))
    bar: tqdm[Any] = progress(total=total, unit="line", label="evaluate")
    with bar:
        for model, translator in translators.items():
            for test_set in sets:
                rows += measure(translator, model, test_set, options, bar.update)
            for idiom_set in idioms:
                scopes += measure_scopes(translator, model, idiom_set, options.selections)
                bar.update(1)
    content = {
        "summary": [asdict(summary) for summary in summarise(rows)],
        "rows": [asdict(row) for row in rows],
        "idioms": [asdict(row) for row in scopes],
    }
    groups = [[row for row in rows if row.model == model] for model in translators]
    of_models = groups if arguments.each else [rows]
    return [
        *(table for group in of_models for table in quality_tables(group)),
        *scope_tables(scopes),
    ], content


def measure_all_curves(translators: Translators, arguments: argparse.Namespace) -> Found:
    """Recall against mean shortlist size, and the figure."""
    first = next(iter(translators.values()))
    sets, idioms = test_sets(first, arguments), idiom_sets(first, arguments)
    curves: list[Curve] = []
    for model, translator in translators.items():
        tokenizers, resources = translator.tokenizers, translator.resources
        probes = [
            Probe.of_text(
                test_set.name, tokenizers, test_set.sources, {"sentence": test_set.references}
            )
            for test_set in sets
        ]
        probes += [probe for idiom_set in idioms for probe in idiom_set.probes(tokenizers)]
        lexicon = resources.lexicon() if resources.lexicon else None
        head = resources.threshold is not None
        if lexicon is None and not head:
            raise InputError(f"{model}: has neither a selection head nor a lexicon (--lexicon)")
        total = sum(len(probe.src_ids) for probe in probes)
        bar: tqdm[Any] = progress(total=total, unit="line", label="curve")
        with bar:
            for probe in probes:
                measured = measure_curves(
                    translator.engine, probe, lexicon, head=head, done=bar.update
                )
                curves += [replace(curve, model=model) for curve in measured]
    if arguments.figure:
        for path in draw_curves(curves, arguments.figure):
            logger.info("wrote %s", path)
    engines = {model: str(translator.engine) for model, translator in translators.items()}
    content = {"engines": engines, "curves": [asdict(curve) for curve in curves]}
    return curve_tables(curves), content


def measure_contexts(translators: Translators, arguments: argparse.Namespace) -> Found:
    """Whole sentences against each of their words alone."""
    tables: list[Table] = []
    content: dict[str, Any] = {"context": {}}
    for model, translator in translators.items():
        rows: list[ContextRow] = []
        for idiom_set in idiom_sets(translator, arguments):
            if not isinstance(idiom_set, IdiomSet):
                raise InputError(
                    f"--context: {idiom_set.name} has proverbs, expected idioms in sentences"
                )
            bar: tqdm[Any] = progress(total=len(idiom_set.idioms), unit="line", label="context")
            with bar:
                rows += measure_context(translator, idiom_set, done=bar.update)
        tables += [replace(t, title=f"{t.title} ({model})") for t in context_tables(rows)]
        content["context"][model] = [asdict(row) for row in rows]
    return tables, content


def compare_aligners(translators: Translators, arguments: argparse.Namespace) -> Found:
    """Lexicons beside each other."""
    (translator,) = translators.values()
    named = [text.rpartition("=") for text in arguments.aligners]
    lexicons = {
        name or Path(path).name: fitting_lexicon(Path(path), translator) for name, _, path in named
    }
    options, sets = table_options(arguments, translator), test_sets(translator, arguments)
    rows: list[AlignerRow] = []
    bar: tqdm[Any] = progress(
        total=sum(len(test_set.sources) for test_set in sets), unit="line", label="aligners"
    )
    with bar:
        for test_set in sets:
            rows += measure_aligners(translator, test_set, lexicons, options, bar.update)
    return aligner_tables(rows), {"aligners": [asdict(row) for row in rows]}


def table_options(arguments: argparse.Namespace, translator: Translator) -> TableOptions:
    """What the arguments ask to measure."""
    names = selections(arguments.selection, translator)
    search = SearchOptions(beam_size=arguments.beam_size)
    comet = Comet(arguments.comet) if arguments.comet else None
    forced = forced_decoding(arguments.forced) if arguments.forced else None
    return TableOptions(names, search, arguments.latency_sentences, comet=comet, forced=forced)


def forced_decoding(models: Sequence[str]) -> ForcedDecoding:
    """The metric of two models."""
    forward, backward = (load(model) for model in models)
    return ForcedDecoding(forward, backward)


def test_sets(translator: Translator, arguments: argparse.Namespace) -> list[ParallelSet]:
    """The sets of --test, read and checked."""
    sets = [
        read_set(text, translator.languages).first(arguments.sentences) for text in arguments.test
    ]
    _different([test_set.name for test_set in sets])
    if not arguments.no_language_check:
        for test_set in sets:
            check_languages(test_set, translator.languages)
    return sets


def idiom_sets(
    translator: Translator, arguments: argparse.Namespace
) -> list[IdiomSet | ProverbSet]:
    """The sets of --idioms, read and checked."""
    sets = [read_idioms(text, translator.languages) for text in arguments.idioms]
    _different([idiom_set.name for idiom_set in sets])
    for idiom_set in sets:
        logger.info("%s", idiom_set)
        if isinstance(idiom_set, IdiomSet) and not arguments.no_language_check:
            check_languages(idiom_set.pairs, translator.languages)
    return [idiom_set.first(arguments.sentences) for idiom_set in sets]


def _different(names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise InputError(f"sets: got the names {', '.join(names)}, expected different ones")
