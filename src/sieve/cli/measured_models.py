"""Models and selections that verbs measure."""

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sieve.errors import InputError
from sieve.log import logger

if TYPE_CHECKING:
    from sieve.selection.lexicon import Lexicon
    from sieve.translate.translator import Translator

SELECTIONS = "none,lexicon:200,lexicon:1000,nvs:0.99,nvs:0.9,nvs:0.5"


def opened(model: str, lexicon: Path | None, arguments: argparse.Namespace) -> "Translator":
    """The translator of a model, with another lexicon than its own where one is given."""
    from sieve.selection.lexicon import Lexicon
    from sieve.translate.load import load

    translator = load(
        model,
        engine=arguments.engine,
        device=arguments.device,
        precision=arguments.precision,
        threads=arguments.threads,
        verify=arguments.verify,
    )
    if lexicon is not None:
        fitting_lexicon(lexicon, translator)
        own = partial(Lexicon.open, lexicon)
        translator = replace(translator, resources=replace(translator.resources, lexicon=own))
    logger.info("%s: engine %s", model, translator.engine)
    return translator


def fitting_lexicon(path: Path, translator: "Translator") -> "Lexicon":
    """The lexicon of a directory, if it is of the model's vocabularies."""
    from sieve.selection.lexicon import Lexicon

    lexicon = Lexicon.open(path)
    source, target = translator.tokenizers.source, translator.tokenizers.target
    sizes = lexicon.src_vocab_size, lexicon.tgt_vocab_size
    if sizes != (source.vocab_size, target.vocab_size):
        raise InputError(
            f"{path}: is of {sizes[0]} source and {sizes[1]} target tokens, the "
            f"model has {source.vocab_size} and {target.vocab_size}"
        )
    return lexicon


def selections(
    text: str | None, translator: "Translator", default: str = SELECTIONS
) -> tuple[str, ...]:
    """The selections of a list; by default those of the paper that the model can do."""
    resources = translator.resources
    names = [name.strip() for name in (text or default).split(",") if name.strip()]
    if text is None:
        unable = {"lexicon": resources.lexicon is None, "nvs": resources.threshold is None}
        names = [name for name in names if not unable.get(name.partition(":")[0])]
    for name in names:
        translator.selector(name)  # errors now
    return tuple(dict.fromkeys(names))


def check_writable(path: Path) -> None:
    """Says now that a file cannot be written where it should be."""
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: expected a file in an existing directory")


def add_metric_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of metrics that need models."""
    parser.add_argument("--comet", type=Path, metavar="DIR", help="local COMET checkpoint")
    parser.add_argument(
        "--forced",
        nargs=2,
        metavar=("FORWARD", "BACKWARD"),
        help="two models, one for each direction: mean log-probability per token of translation "
        "and source, a metric without a reference",
    )


def add_measured_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that say which models, sets and selections are measured."""
    parser.add_argument("models", nargs="+", metavar="MODEL", help="model directories")
    sets: dict[str, Any] = {"nargs": "+", "action": "extend", "default": [], "metavar": "SET"}
    parser.add_argument("--test", help="test sets", **sets)
    parser.add_argument("--idioms", help="sets of idioms or proverbs", **sets)
    parser.add_argument(
        "--selection",
        metavar="LIST",
        help=f"selections, separated by commas (default: those of {SELECTIONS} that the model "
        "supports); none is always measured",
    )
    parser.add_argument(
        "--lexicon",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="default: the model's own; one for all models, or one each",
    )
    parser.add_argument("--sentences", type=int, metavar="N", help="only the first N of each set")
