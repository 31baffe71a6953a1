"""Human evaluation as in the paper: blind rating sheets and their results.

`sample` draws segments whose outputs differ between systems and writes, for each annotator, a CSV
sheet and an HTML page that keeps ratings in the browser and exports the same CSV; the systems are
shuffled anew for each segment. Give away DIR/sheets, keep DIR/key.json. Systems are the ways to
select of one model, or files of translations.

`score` takes the key and the filled sheets: the baseline (the first system) at 100 %, the others
with 95 % intervals of a paired t-test, and how far annotators agree.

Examples:
  sieve human sample model --test news.en-de --selection none,lexicon:200,nvs:0.9 -o rating
  sieve human sample model --test news.en-de --differ lexicon:200 nvs:0.9 --number 350 -o rating
  sieve human sample --source news.en --system all=a.de lexicon=b.de nvs=c.de -o rating
  sieve human score rating/key.json first.csv second.csv --json scores.json
"""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sieve.cli.measured_models import check_writable, opened, selections
from sieve.cli.model_options import add_engine_arguments
from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError, InputError
from sieve.log import logger

if TYPE_CHECKING:
    from tqdm import tqdm

    from sieve.evaluate.human.human_sample import SystemOutputs

_SYSTEMS = "none,lexicon:200,lexicon:1000,nvs:0.9"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the sub-verbs of `sieve human`."""
    verbs = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_sample(verbs.add_parser("sample", help="make rating sheets of segments that differ"))
    score = verbs.add_parser("score", help="evaluate filled-in sheets")
    score.add_argument("key", type=Path, metavar="KEY", help="key.json of the sample")
    score.add_argument("sheets", type=Path, nargs="+", metavar="CSV", help="one per annotator")
    score.add_argument(
        "--baseline", metavar="NAME", help="system that counts as 100 %% (default: the first)"
    )
    score.add_argument("--json", type=Path, metavar="FILE", help="write all results as JSON")
    score.add_argument("--markdown", type=Path, metavar="FILE", help="write the table as Markdown")


def _add_sample(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", metavar="MODEL", help="model directory")
    parser.add_argument("--test", metavar="SET", help="as in sieve evaluate")
    parser.add_argument(
        "--selection",
        metavar="LIST",
        help=f"selections, baseline first (default: those of {_SYSTEMS} that the model supports)",
    )
    parser.add_argument("--lexicon", type=Path, metavar="DIR", help="default: the model's own")
    parser.add_argument("--source", type=Path, metavar="FILE", help="source lines")
    parser.add_argument(
        "--system", nargs="+", metavar="NAME=FILE", help="translations, baseline first"
    )
    parser.add_argument(
        "--differ",
        nargs="+",
        default=[],
        metavar="NAME",
        help="systems between which outputs must differ (default: any of all)",
    )
    parser.add_argument("--number", type=int, metavar="N", help="segments (default: all that do)")
    parser.add_argument("--annotators", type=int, default=2, help="default: %(default)s")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the sample (default: %(default)s)"
    )
    parser.add_argument("--beam-size", type=int, default=SearchOptions().beam_size, metavar="N")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    add_engine_arguments(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Runs one sub-verb."""
    (_sample if arguments.action == "sample" else _score)(arguments)


def _sample(arguments: argparse.Namespace) -> None:
    _check(arguments)
    from sieve.evaluate.human.human_sample import (
        KEY_FILE,
        SHEETS,
        SampleOptions,
        draw,
        write_sample,
    )
    from sieve.pages.standalone import need_templates

    need_templates()
    outputs = _of_model(arguments) if arguments.model else _of_files(arguments)
    options = SampleOptions(
        arguments.number, arguments.annotators, tuple(arguments.differ), arguments.seed
    )
    key, sheets = draw(outputs, options)
    write_sample(arguments.output, key, sheets, outputs)
    logger.info(
        "%d of %d segments that differ (of %d), %d systems, %d annotators: give away %s, keep %s",
        len(key.lines),
        key.differing,
        len(outputs.sources),
        len(key.systems),
        len(sheets),
        arguments.output / SHEETS,
        arguments.output / KEY_FILE,
    )


def _check(arguments: argparse.Namespace) -> None:
    from_model = bool(arguments.model and arguments.test)
    from_files = bool(arguments.source and arguments.system)
    given = [arguments.model, arguments.test, arguments.source, arguments.system]
    if from_model == from_files or sum(map(bool, given)) != 2:
        raise ConfigError("expected MODEL and --test SET, or --source FILE and --system NAME=FILE")
    if arguments.number is not None and arguments.number < 1:
        raise ConfigError(f"--number: got {arguments.number}, expected 1 or more")
    if arguments.annotators < 1:
        raise ConfigError(f"--annotators: got {arguments.annotators}, expected 1 or more")
    if (arguments.output / "key.json").exists():
        raise InputError(
            f"{arguments.output}: holds a sample already, whose sheets may be out; choose another"
        )


def _of_model(arguments: argparse.Namespace) -> "SystemOutputs":
    from sieve.evaluate.human.human_sample import SystemOutputs
    from sieve.evaluate.measure.comparison import TableOptions, translated
    from sieve.evaluate.measure.sets import read_set
    from sieve.log import progress

    translator = opened(arguments.model, arguments.lexicon, arguments)
    names = selections(arguments.selection, translator, default=_SYSTEMS)
    test_set = read_set(arguments.test, translator.languages)
    options = TableOptions(names, SearchOptions(beam_size=arguments.beam_size))
    systems = {}
    total = len(names) * len(test_set.sources)
    bar: tqdm[Any] = progress(total=total, unit="line", label="translate")
    with bar:
        for name in names:
            translations = translated(translator, test_set, name, options, bar.update)
            systems[name] = tuple(line.text for line in translations)
    return SystemOutputs(test_set.name, test_set.sources, systems, translator.languages)


def _of_files(arguments: argparse.Namespace) -> "SystemOutputs":
    from sieve.data.reading import read_lines
    from sieve.evaluate.human.human_sample import SystemOutputs
    from sieve.evaluate.measure.sets import stem

    named = [text.partition("=") for text in arguments.system]
    for name, equals, file in named:
        if not name or not equals or not file:
            raise InputError(f"--system '{name}{equals}{file}': expected NAME=FILE")
    if len({name for name, _, _ in named}) < len(named):
        names = ", ".join(name for name, _, _ in named)
        raise InputError(f"--system: got the names {names}, expected different ones")
    systems = {name: tuple(read_lines(Path(file))) for name, _, file in named}
    return SystemOutputs(stem(arguments.source), tuple(read_lines(arguments.source)), systems)


def _score(arguments: argparse.Namespace) -> None:
    from sieve.cli.measured import write_measured
    from sieve.evaluate.human.human_score import score
    from sieve.evaluate.human.human_sheets import read_key, read_ratings
    from sieve.evaluate.measure.statistics import need_student
    from sieve.evaluate.present.human_table import human_table

    for path in filter(None, (arguments.json, arguments.markdown)):
        check_writable(path)
    need_student()
    key = read_key(arguments.key)
    human_score = score(read_ratings(key, arguments.sheets), arguments.baseline or key.baseline)
    table = human_table(human_score)
    sys.stdout.write(table.as_text())
    write_measured(arguments, [table], {"human": [asdict(human_score)]})
