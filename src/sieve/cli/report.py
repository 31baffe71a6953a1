"""Measure everything and write one page: quality, latency, curves, idioms, context, examples.

Writes OUTPUT/index.html, which needs nothing else, and OUTPUT/report.json with every number. SETs
are as in `sieve evaluate`; of --idioms come idiom scopes and context, of --aligners the comparison
of lexicons. Latency is that of `sieve benchmark` on the first test set.

Examples:
  sieve report model --test newstest2019.en-de flores.en-de --idioms itds_idiom_test.en-de -o report
  sieve report model --lexicon lexicon --test news.en-de --selection lexicon:200,nvs:0.9 -o report
  sieve report seed1 seed2 seed3 --test news.en-de --runs 0 -o report
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sieve.cli.measured_models import (
    add_measured_arguments,
    add_metric_arguments,
    fitting_lexicon,
    opened,
)
from sieve.cli.model_options import add_engine_arguments
from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError, InputError
from sieve.log import logger

if TYPE_CHECKING:
    from tqdm import tqdm

    from sieve.evaluate.report.contents import Subject


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve report`."""
    add_measured_arguments(parser)
    parser.add_argument(
        "--aligners", nargs="+", default=[], metavar="NAME=DIR", help="lexicons to compare"
    )
    parser.add_argument(
        "--runs",
        type=int,
        default=5,
        metavar="N",
        help="processes per selection for latency; 0: no latency (default: %(default)s)",
    )
    parser.add_argument("--beam-size", type=int, default=SearchOptions().beam_size, metavar="N")
    add_metric_arguments(parser)
    parser.add_argument(
        "--no-language-check", action="store_true", help="accept sets in any language"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    add_engine_arguments(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve report`."""
    _check(arguments)
    from sieve.evaluate.measure.statistics import need_student
    from sieve.evaluate.report.contents import Report, run_all, stages
    from sieve.evaluate.report.report_page import as_page, need_page_libraries
    from sieve.files import whole_file, write_json
    from sieve.log import progress

    need_page_libraries()
    if arguments.runs > 1:
        need_student()
    lexicons = arguments.lexicon or [None]
    lexicons = lexicons * len(arguments.models) if len(lexicons) == 1 else lexicons
    pairs = zip(arguments.models, lexicons, strict=True)
    subjects = [_subject(model, lexicon, arguments) for model, lexicon in pairs]
    _make(arguments.output)
    report = Report()
    todo = [stage for subject in subjects for stage in stages(subject, report)]
    bar: tqdm[Any] = progress(total=int(sum(s.cost for s in todo)), unit="step", label="report")
    with bar:
        run_all(todo, report, bar.update)
    content = {"command": " ".join(["sieve", *sys.argv[1:]]), **report.as_json()}
    write_json(arguments.output / "report.json", content)
    with whole_file(arguments.output / "index.html") as partial:
        partial.write_text(as_page(report), encoding="utf-8")
    logger.info("wrote %s", arguments.output / "index.html")


def _subject(model: str, lexicon: Path | None, arguments: argparse.Namespace) -> "Subject":
    """Opens and reads everything, so that what is wrong shows before hours of measuring."""
    from dataclasses import replace

    from sieve.cli.evaluation_modes import idiom_sets, table_options, test_sets
    from sieve.evaluate.benchmark.one_run import Job
    from sieve.evaluate.report.contents import Subject

    translator = opened(model, lexicon, arguments)
    arguments.latency_sentences = 0  # fresh processes say it better
    named = [text.rpartition("=") for text in arguments.aligners]
    job = Job(
        model,
        "none",
        (),
        arguments.beam_size,
        lexicon=str(lexicon) if lexicon else None,
        engine={name: getattr(arguments, name) for name in ("engine", "device", "precision")},
    )
    options = table_options(arguments, translator)
    return Subject(
        model,
        translator,
        tuple(test_sets(translator, arguments)),
        tuple(idiom_sets(translator, arguments)),
        replace(options, latency_sentences=0),
        {name or Path(path).name: fitting_lexicon(Path(path), translator)
         for name, _, path in named},
        job,
        arguments.runs,
    )  # fmt: skip


def _check(arguments: argparse.Namespace) -> None:
    if not arguments.test and not arguments.idioms:
        raise ConfigError("nothing to report: give test sets with --test SET … or --idioms SET …")
    if len(set(arguments.models)) < len(arguments.models):
        raise ConfigError(f"got {' '.join(arguments.models)}, expected different models")
    number = len(arguments.lexicon or [])
    if number not in (0, 1, len(arguments.models)):
        raise ConfigError(
            f"--lexicon: got {number} for {len(arguments.models)} models, expected one or as many"
        )
    if arguments.aligners and not arguments.test:
        raise ConfigError("--aligners requires test sets (--test SET …)")
    for name, least in (("sentences", 1), ("runs", 0)):
        value = getattr(arguments, name)
        if value is not None and value < least:
            raise ConfigError(f"--{name}: got {value}, expected {least} or more")


def _make(folder: Path) -> None:
    """After everything was read and before anything is measured: a typing error leaves nothing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from None
