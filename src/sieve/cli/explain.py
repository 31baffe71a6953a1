"""Explain a sentence: which source word voted for which token, and which tokens were out of reach.

Translates the sentence under each selection and marks the pieces of the unrestricted output, and
of a reference, that a selection leaves out. Colours only on a terminal, and not with NO_COLOR.

Examples:
  sieve explain model "Make yourself at home!" --reference "Machen Sie es sich bequem!"
  sieve explain model "By hook or by crook." --lexicon lexicon --selection lexicon:200,nvs:0.9
  sieve explain model "Make yourself at home!" --html home.html
"""

import argparse
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from sieve.cli.lines import as_json
from sieve.cli.measured_models import check_writable, opened, selections
from sieve.cli.model_options import add_engine_arguments
from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sieve.explain.explanation import ExplainedToken, Explanation, Text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve explain`."""
    parser.add_argument("model", metavar="MODEL", help="model directory")
    parser.add_argument("sentence", metavar="SENTENCE")
    parser.add_argument("--reference", default="", metavar="TEXT", help="translation to look for")
    parser.add_argument(
        "--selection", metavar="LIST", help="selections, separated by commas (as in evaluate)"
    )
    parser.add_argument("--lexicon", type=Path, metavar="DIR", help="default: the model's own")
    parser.add_argument(
        "--top",
        type=int,
        default=8,
        metavar="N",
        help="votes shown per word (default: %(default)s)",
    )
    parser.add_argument("--beam-size", type=int, default=SearchOptions().beam_size, metavar="N")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a self-contained page")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    add_engine_arguments(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve explain`."""
    from sieve.explain.explanation import ExplainOptions, explain
    from sieve.explain.explanation_page import as_html
    from sieve.files import whole_file
    from sieve.pages.standalone import need_templates

    if arguments.top < 0:
        raise ConfigError(f"--top: got {arguments.top}, expected 0 or more")
    html = arguments.html
    if html:
        check_writable(html)
        need_templates()
    translator = opened(arguments.model, arguments.lexicon, arguments)
    options = ExplainOptions(
        selections(arguments.selection, translator),
        arguments.reference,
        arguments.top,
        SearchOptions(beam_size=arguments.beam_size),
    )
    explanation = explain(translator, arguments.sentence, options)
    if html:
        with whole_file(html) as partial:
            partial.write_text(as_html(explanation), encoding="utf-8")
    if arguments.json:
        sys.stdout.buffer.write(as_json(asdict(explanation)))
        return
    colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    sys.stdout.write("\n".join(_lines(explanation, _Pen(colours))) + "\n")


class _Pen:
    """Marks for a terminal; brackets where there are no colours."""

    def __init__(self, colours: bool) -> None:
        self._colours = colours

    def lost(self, text: str) -> str:
        return f"\x1b[1;31m{text}\x1b[0m" if self._colours else f"[{text}]"

    def soft(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[0m" if self._colours else text

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self._colours else text


def _lines(explanation: "Explanation", pen: _Pen) -> "Iterator[str]":
    width = max(len(system.selection) for system in explanation.systems)
    yield pen.bold(explanation.source)
    for system in explanation.systems:
        size = pen.soft(f"({system.size} of {explanation.vocab_size} tokens)")
        yield f"  {system.selection:<{width}}  {system.translation}  {size}"
    for text in explanation.texts:
        yield ""
        yield f"{pen.bold(text.label.capitalize())}, pieces out of reach {pen.lost('marked')}"
        for system in explanation.systems[1:]:  # without selection everything is within reach
            lost = sum(system.selection in token.missing for token in text.tokens)
            shown = " ".join(_marked(token, system.selection, pen) for token in text.tokens)
            note = pen.soft(f"({lost} of {len(text.tokens)} pieces unreachable)") if lost else ""
            yield f"  {system.selection:<{width}}  {shown}  {note}".rstrip()
        yield from _voters(text, pen)
    if explanation.words:
        yield ""
        lower = f", {explanation.fall:.2f} log-odds lower: a long line" if explanation.fall else ""
        yield pen.bold(f"Votes of each source word, λ = {explanation.threshold:g}{lower}")
        widest = max(len(word.text) for word in explanation.words)
        for word in explanation.words:
            votes = ", ".join(
                f"{vote.piece} {vote.probability:.3f}"
                + (f" ({vote.bonus:+.1f})" if vote.bonus else "")
                for vote in word.votes
            )
            more = word.number - len(word.votes)
            rest = pen.soft(f" and {more} more") if more else ""
            yield f"  {word.text:<{widest}}  {votes}{rest}".rstrip()


def _voters(text: "Text", pen: _Pen) -> "Iterator[str]":
    tokens = [token for token in text.tokens if token.probability is not None]
    if tokens:
        yield pen.soft("  voted for by:")
        widest = max(len(token.piece) for token in tokens)
        for token in tokens:
            line = f"    {token.piece:<{widest}}  {token.probability:.4f}  {token.voter}"
            yield line + pen.soft(_share(token))


def _share(token: "ExplainedToken") -> str:
    share, note = token.lexicon, "" if token.proposed else "  not proposed by the lexicon"
    if share is None:
        return note
    return f"  {share.log_odds:+.2f} by the lexicon: {share.word}, rank {share.rank}{note}"


def _marked(token: "ExplainedToken", selection: str, pen: _Pen) -> str:
    return pen.lost(token.piece) if selection in token.missing else token.piece
