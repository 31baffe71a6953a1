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
  sieve prepare --config prepare.toml --output corpora/all --workers 4
"""

import argparse
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from sieve.errors import ConfigError

if TYPE_CHECKING:
    from sieve.data.prepare import PrepareOptions

KINDS = ("sentencepiece-unigram", "sentencepiece-bpe", "moses-bpe")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options. What is not given stays out: defaults live in the dataclasses."""
    text = _Group(parser.add_argument_group("text"), "")
    text.add(
        "--pair",
        "inputs",
        "two files with the same number of lines; repeatable",
        nargs=2,
        action=_Input,
        metavar=("SOURCE", "TARGET"),
    )
    text.add("--tsv", "inputs", "two columns; repeatable", nargs=1, action=_Input, metavar="FILE")
    languages = "codes such as en de; without them languages are not checked"
    text.add("--languages", "languages", languages, nargs=2, metavar=("SRC", "TGT"))
    text.add("--output", "output", "directory to make", metavar="DIR")
    text.add("--overwrite", "overwrite", "replace an existing corpus", action="store_true")
    text.add("--workers", "workers", "processes (default: one per core)", type=int, metavar="N")
    text.add(
        "--config",
        "config",
        "TOML: languages, [[inputs]], [training], [cleaning]; options go before it",
        type=Path,
    )
    _add_tokenizer_arguments(parser)
    _add_cleaning_arguments(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Runs the verb."""
    from sieve.data.prepare import prepare
    from sieve.importers.opening import model_directory

    options = options_from(arguments)
    if options.tokenizer is not None and not options.tokenizer.is_file():
        options = replace(options, tokenizer=model_directory(options.tokenizer))
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        print(_table(prepare(options)))
    finally:
        signal.signal(signal.SIGTERM, before)


def options_from(arguments: argparse.Namespace) -> "PrepareOptions":
    """What was asked for, as the library's own options."""
    from sieve.config import from_dict, read_toml
    from sieve.data.prepare import PrepareOptions

    given = dict(vars(arguments))
    values: dict[str, Any] = {"inputs": []}
    if "config" in given:
        values |= read_toml(given.pop("config"))
    for name, value in given.items():
        section, dot, key = name.rpartition(".")
        if dot:
            values[section] = {**values.get(section, {}), key: value}
        elif name in PrepareOptions.__dataclass_fields__:
            values[name] = value
    if "output" not in values:
        raise ConfigError("no output: give --output DIR")
    if isinstance(values.get("cleaning"), dict):
        values["cleaning"] = {key: _value(value) for key, value in values["cleaning"].items()}
    return from_dict(PrepareOptions, values)


class _Group:
    """Options that fill one section, `training.kind` from --kind."""

    def __init__(self, group: Any, section: str) -> None:
        self._group = group
        self._section = section

    def add(self, option: str, key: str, meaning: str, **more: Any) -> None:
        """Adds an option that leaves no trace when it is not given."""
        self._group.add_argument(
            option, dest=self._section + key, default=argparse.SUPPRESS, help=meaning, **more
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
        keys = ("source", "target") if len(values) == 2 else ("path",)
        item = dict(zip(keys, values, strict=True))
        namespace.inputs = [*getattr(namespace, "inputs", []), item]


def _add_tokenizer_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("tokenizer")
    _Group(group, "").add(
        "--tokenizer",
        "tokenizer",
        "use the tokenizer of a corpus or model directory, or a SentencePiece file",
        metavar="DIR",
    )
    new = _Group(group, "training.")
    new.add("--kind", "kind", f"kind of a new tokenizer (default: {KINDS[0]})", choices=KINDS)
    new.add(
        "--vocab-size",
        "vocab_size",
        "pieces, or merges for moses-bpe (default: 32000)",
        type=int,
        metavar="N",
    )
    new.add("--separate", "separate", "one vocabulary per side", action="store_true")
    new.add(
        "--sample-pairs",
        "sample_pairs",
        "pairs to learn from (default: 250000)",
        type=int,
        metavar="N",
    )
    coverage = "share of characters that are pieces (default: 0.9995)"
    new.add("--character-coverage", "character_coverage", coverage, type=float, metavar="X")
    new.add(
        "--symbol",
        "symbols",
        "always a piece of its own; repeatable",
        action="append",
        metavar="TEXT",
    )


def _add_cleaning_arguments(parser: argparse.ArgumentParser) -> None:
    rules = _Group(
        parser.add_argument_group("cleaning: each rule can be switched off"), "cleaning."
    )
    off = {"action": "store_const", "const": False}
    rules.add("--keep-empty", "empty", "keep pairs with an empty side", **off)
    rules.add("--keep-duplicates", "duplicates", "keep equal pairs", **off)
    lines = "remove pairs that share a side with this file; repeatable"
    rules.add("--test-set", "test_sets", lines, action="append", metavar="FILE")
    for option, meaning in (
        ("--max-overlap", "largest share of words common to both sides, or off (default: 0.7)"),
        ("--language-odds", "how much likelier another language may be, or off (default: 10)"),
        ("--max-tokens", "tokens per side, or off (default: 100)"),
        ("--max-length-ratio", "ratio of the lengths in tokens, or off (default: 1.5)"),
        ("--length-slack", "difference in tokens that is always allowed (default: 0)"),
    ):
        rules.add(option, option[2:].replace("-", "_"), meaning, metavar="X")
    short = {"action": "store_const", "const": "off"}
    rules.add("--no-language-check", "language_odds", "same as --language-odds off", **short)


def _value(value: Any) -> Any:
    """A limit as a number, None where a rule is off; what is neither stays for the check."""
    if value == "off":
        return None
    if isinstance(value, str):
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
    return value


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
