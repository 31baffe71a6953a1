"""Options of verbs that run a model: selection, engine, device, precision."""

import argparse
from typing import TYPE_CHECKING

from sieve.log import logger, renamed

if TYPE_CHECKING:
    from sieve.translate.translator import Translator


_THREADS = "sentences that the native engine translates in parallel (default: one per core)"


def add_model_arguments(parser: argparse.ArgumentParser, threads: str = _THREADS) -> None:
    """Options for the shortlist and the engine.

    Args:
        parser: To add them to.
        threads: What to say of --threads.
    """
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--selection",
        help="none, frequent:N, lexicon:K, nvs, nvs:LAMBDA, fused:LAMBDA or safe, joined "
        "by + (default: nvs at the model's own threshold if it has a head, else none)",
    )
    # selections with a value that the model's calibration knows
    which.add_argument(
        "--target-recall",
        dest="selection",
        type=lambda text: f"nvs:recall={text}+safe",
        metavar="R",
        help="shortlists with this share of the tokens that the model writes without selection",
    )
    which.add_argument(
        "--max-shortlist",
        dest="selection",
        type=_at_most,
        metavar="N",
        help="shortlists of at most N tokens for 99 of 100 sentences, without the safety set",
    )
    which.add_argument("--max-words", dest="selection", type=_old_at_most, help=argparse.SUPPRESS)
    add_engine_arguments(parser, threads)


def _at_most(text: str) -> str:
    return f"nvs:size={text}+safe"


def _old_at_most(text: str) -> str:
    renamed("--max-words", "--max-shortlist")
    return _at_most(text)


def add_engine_arguments(parser: argparse.ArgumentParser, threads: str = _THREADS) -> None:
    """Options for engine, device and precision."""
    parser.add_argument(
        "--engine",
        choices=["native", "torch"],
        help="native: C++ on a CPU; torch: CPU or GPU (default: native if it can)",
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    parser.add_argument(
        "--precision",
        choices=["float32", "bfloat16", "float16"],
        help="of weights and arithmetic (default: as stored on the native engine, else float32)",
    )
    parser.add_argument(
        "--no-verify",
        dest="verify",
        action="store_false",
        help="use the model's files even if they are not as its manifest.json records",
    )
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help=threads,
    )


def open_translator(arguments: argparse.Namespace) -> "Translator":
    """The translator that options of `add_model_arguments` ask for; logs which it is."""
    from sieve.translate.load import load

    translator = load(
        arguments.model,
        engine=arguments.engine,
        device=arguments.device,
        precision=arguments.precision,
        threads=arguments.threads,
        verify=arguments.verify,
        quality=getattr(arguments, "quality", False),
    )
    selector = translator.selector(arguments.selection)
    logger.info("engine %s, selection %s", translator.engine, selector)
    return translator
