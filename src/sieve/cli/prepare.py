r"""Turns raw parallel text into a cleaned, tokenised, memory-mapped corpus.

Text comes as pairs of files, line n of the one being the translation of line n of the other, or as
.tsv with two columns; both plain or compressed (.gz .xz .bz2 .zst). The output directory holds
shards of ids, the tokenizer and statistics; it appears complete or not at all.

Examples:
  sieve prepare --pair news.en news.de --languages en de --output corpora/news
  sieve prepare --pair a.en.bz2 a.de.bz2 --tsv b.tsv.gz --languages en de --output corpora/all \
      --test-set newstest2019.en --test-set newstest2019.de
  sieve prepare --tsv new.tsv --languages en de --tokenizer corpora/all --output corpora/new
  sieve prepare --pair a.en a.de --languages en de --kind moses-bpe --output corpora/paper
"""

import argparse
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from sieve.errors import ConfigError

if TYPE_CHECKING:
    from sieve.text.prepare import PrepareOptions

KINDS = ("sentencepiece-unigram", "sentencepiece-bpe", "moses-bpe")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options; their defaults are those of the dataclasses they fill."""
    text = parser.add_argument_group("text")
    text.add_argument(
        "--pair",
        nargs=2,
        action=_Input,
        dest="inputs",
        default=[],
        metavar=("SOURCE", "TARGET"),
        help="two files of equally many lines; may be repeated",
    )
    text.add_argument(
        "--tsv", nargs=1, action=_Input, dest="inputs", metavar="FILE", help="two columns; likewise"
    )
    text.add_argument(
        "--languages",
        nargs=2,
        metavar=("SRC", "TGT"),
        help="codes like en de; without them languages are not checked",
    )
    text.add_argument("--output", type=Path, required=True, help="directory to make")
    text.add_argument("--overwrite", action="store_true", help="replace a corpus already there")
    text.add_argument("--workers", type=int, default=0, help="processes (default: one a core)")
    _add_tokenizer_arguments(parser.add_argument_group("tokenizer"))
    _add_cleaning_arguments(parser.add_argument_group("cleaning: every rule has its switch"))


def execute(arguments: argparse.Namespace) -> None:
    """Runs the verb."""
    from sieve.text.prepare import prepare

    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        print(_table(prepare(options_from(arguments))))
    finally:
        signal.signal(signal.SIGTERM, before)


def options_from(arguments: argparse.Namespace) -> "PrepareOptions":
    """What was asked for, as the library's own options."""
    from sieve.text.prepare import PrepareOptions

    return PrepareOptions(
        inputs=tuple(_input(paths) for paths in arguments.inputs),
        output=arguments.output,
        languages=tuple(arguments.languages) if arguments.languages else None,
        tokenizer=arguments.tokenizer,
        training=_training(arguments),
        cleaning=_cleaning(arguments),
        workers=arguments.workers,
        overwrite=arguments.overwrite,
    )


class _Input(argparse.Action):
    """Collects --pair and --tsv in the order they were given: the order of the corpus."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        namespace.inputs = [*namespace.inputs, values]


def _add_tokenizer_arguments(group: Any) -> None:
    group.add_argument("--tokenizer", type=Path, help="use that of a corpus or model directory")
    group.add_argument("--kind", choices=KINDS, default=KINDS[0], help="of a new one")
    group.add_argument(
        "--vocab-size", type=int, default=32000, help="pieces, or merges of moses-bpe (32000)"
    )
    group.add_argument("--separate", action="store_true", help="one vocabulary a side")
    group.add_argument(
        "--sample-pairs", type=int, default=250_000, help="learned from at most (250000)"
    )
    group.add_argument("--character-coverage", type=float, default=0.9995, help="(0.9995)")
    group.add_argument(
        "--symbol", action="append", default=[], help="always one piece; may be repeated"
    )


def _add_cleaning_arguments(group: Any) -> None:
    group.add_argument("--keep-empty", action="store_true", help="keep pairs with an empty side")
    group.add_argument("--keep-duplicates", action="store_true", help="keep equal pairs")
    group.add_argument(
        "--test-set",
        action="append",
        type=Path,
        default=[],
        help="remove pairs of which a side is a line of this file; may be repeated",
    )
    for name, default, meaning in (
        ("--max-overlap", "0.7", "share of words that both sides may have in common"),
        ("--language-odds", "10", "times another language may be likelier than the right one"),
        ("--max-tokens", "100", "subword tokens a side may have"),
        ("--max-length-ratio", "1.5", "times the subword tokens of the other side"),
    ):
        group.add_argument(
            name, metavar="X", default=default, help=f"{meaning}, or off ({default})"
        )
    group.add_argument(
        "--length-slack", type=int, default=0, help="tokens more that the ratio always allows (0)"
    )
    group.add_argument(
        "--no-language-check",
        dest="language_odds",
        action="store_const",
        const="off",
        help="short for --language-odds off",
    )


def _input(paths: list[str]) -> Any:
    from sieve.text.reading import PairFiles, TsvFile

    return PairFiles(Path(paths[0]), Path(paths[1])) if len(paths) == 2 else TsvFile(Path(paths[0]))


def _training(arguments: argparse.Namespace) -> Any:
    from sieve.text.tokenizer_training import TokenizerOptions

    return TokenizerOptions(
        kind=arguments.kind,
        vocab_size=arguments.vocab_size,
        separate=arguments.separate,
        sample_pairs=arguments.sample_pairs,
        character_coverage=arguments.character_coverage,
        symbols=tuple(arguments.symbol),
    )


def _cleaning(arguments: argparse.Namespace) -> Any:
    from sieve.text.cleaning import CleaningOptions

    max_tokens = _limit("--max-tokens", arguments.max_tokens)
    return CleaningOptions(
        empty=not arguments.keep_empty,
        test_sets=tuple(arguments.test_set),
        max_overlap=_limit("--max-overlap", arguments.max_overlap),
        language_odds=_limit("--language-odds", arguments.language_odds),
        duplicates=not arguments.keep_duplicates,
        max_tokens=None if max_tokens is None else int(max_tokens),
        max_length_ratio=_limit("--max-length-ratio", arguments.max_length_ratio),
        length_slack=arguments.length_slack,
    )


def _limit(option: str, text: str) -> float | None:
    if text == "off":
        return None
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{option}: got '{text}', expected a number or off") from None


def _terminate(number: int, frame: FrameType | None) -> None:
    """SIGTERM unwinds the stack as Ctrl-C does, so that nothing half-made stays."""
    sys.exit(128 + number)


def _table(statistics: Mapping[str, Any]) -> str:
    """What was read, removed and kept, one rule a row."""
    read = statistics["read"]
    rows = [("read", read), *statistics["removed"].items(), ("kept", statistics["pairs"])]
    lines = [f"{'':<14}{'pairs':>14}{'share':>10}"]
    lines += [f"{name:<14}{count:>14,}{count / max(read, 1):>10.2%}" for name, count in rows]
    for side in ("source", "target"):
        tokens, missing = statistics[f"{side}_tokens"], statistics[f"{side}_unknown"]
        lines.append(f"{side + ' tokens':<14}{tokens:>14,}   of which unknown {missing:,}")
    return "\n".join(lines)
