"""Options of verbs that translate: words, repairs and search; and the request they make."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sieve.engines.options import Sampling, SearchOptions

if TYPE_CHECKING:
    from sieve.translate.translation import Request


def add_request_arguments(parser: argparse.ArgumentParser) -> Any:
    """Declares them; gives the group of the search, for a verb that has more."""
    words = parser.add_argument_group("words")
    words.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="WORD",
        help="allow this word; repeatable",
    )
    words.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="WORD",
        help="forbid this word; repeatable",
    )
    words.add_argument(
        "--glossary",
        type=Path,
        metavar="TSV",
        help="lines of phrase, tab, translation",
    )
    words.add_argument(
        "--glossary-mode",
        choices=["allow", "force"],
        default="allow",
        help="whether its translations may or must be used (default: %(default)s)",
    )
    words.add_argument(
        "--prefix", default="", metavar="TEXT", help="start every translation with TEXT"
    )
    words.add_argument(
        "--no-repair",
        action="store_true",
        help="write what the model writes: names, numbers, times and capitals are not put right",
    )
    search = parser.add_argument_group("search")
    _add_search_arguments(search)
    return search


def _add_search_arguments(group: Any) -> None:
    default = SearchOptions()
    numbers: list[tuple[str, type, float, str, str]] = [
        ("--beam-size", int, default.beam_size, "N", "hypotheses kept; 1 is greedy search"),
        ("--length-penalty", float, default.length_penalty, "A", "rank by score / length**A"),
        ("--max-length-factor", float, default.max_length_factor, "X",
         "limit the length to X times the source tokens plus ten"),
        ("--temperature", float, 1.0, "X", "for --sample"),
        ("--top-k", int, 0, "N", "--sample from the N most probable tokens; 0: from all"),
    ]  # fmt: skip
    for name, kind, value, metavar, text in numbers:
        text = f"{text} (default: %(default)s)"
        group.add_argument(name, type=kind, default=value, metavar=metavar, help=text)
    group.add_argument("--sample", type=int, metavar="SEED", help="sample instead of searching")
    group.add_argument(
        "--stop",
        choices=["exact", "first"],
        default=default.stop,
        help="exact: when no better translation is possible; first: when --beam-size translations "
        "are complete (default: %(default)s)",
    )
    group.add_argument(
        "--lossless",
        action="store_true",
        help="same output as without selection; with --beam-size 1, and with large models, the "
        "shortlist is used for drafts that are then checked; else the whole vocabulary is searched",
    )


def request_of(arguments: argparse.Namespace) -> "Request":
    """The request that the options make; with those that a verb has besides, where it has them."""
    from sieve.repair.glossary import Glossary
    from sieve.translate.translation import Request

    sampling = None
    if arguments.sample is not None:
        sampling = Sampling(arguments.sample, arguments.temperature, arguments.top_k)
    options = SearchOptions(
        beam_size=arguments.beam_size,
        n_best=getattr(arguments, "n_best", 1),
        length_penalty=arguments.length_penalty,
        max_length_factor=arguments.max_length_factor,
        stop=arguments.stop,
        sampling=sampling,
        lossless=arguments.lossless,
        alignment=getattr(arguments, "alignment", False),
    )
    words = tuple(arguments.include), tuple(arguments.exclude)
    glossary = None if arguments.glossary is None else Glossary.read(arguments.glossary)
    forced = arguments.glossary_mode == "force"
    return Request(
        arguments.selection, options, *words, (), glossary, forced, not arguments.no_repair
    )
