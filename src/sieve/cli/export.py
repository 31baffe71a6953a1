"""Write a static shortlist for another toolkit: what a model's head votes for, or its lexicon.

With --text, the head is distilled: for each source token of the text, the target tokens that it
votes for there. Without, the lexicon of MODEL is written as it is. Formats:

  vmap     CTranslate2's vocabulary map (converters: --vocab_mapping; translation: use_vmap)
  lex      the binary lex.*.s2t.bin of Bergamot and Marian, for models that came from there
  marian   Marian's text, lines of target, source, probability
  sockeye  Sockeye's top-k lexicon, with vocabularies beside it

Examples:
  sieve export model --to vmap --text news.en -o vmap.txt
  sieve export en-pt-selected --to lex --text news.en --top 50 -o lex.enpt.s2t.bin
  sieve export model --to vmap --top 200 -o vmap.txt
"""

import argparse
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sieve.errors import ConfigError, InputError, ModelError

if TYPE_CHECKING:
    from sieve.selection.lexicon import Lexicon
    from sieve.tokenize.tokenizer import Tokenizers

_BINARY = "lex"
_FREQUENT = 50
_NAMES = {"vmap": "ctranslate2"}
"""Formats that have another name as lexicons."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `sieve export`."""
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="model, or without --text a lexicon"
    )
    parser.add_argument("--to", required=True, choices=["vmap", _BINARY, "marian", "sockeye"])
    parser.add_argument(
        "--text", type=Path, metavar="TEXT", help="source-language lines to distil the head over"
    )
    numbers = [
        ("--limit", int, 0, "N", "use only the first N lines of TEXT; 0: all"),
        ("--threshold", float, None, "LAMBDA", "λ of the votes (default: the model's)"),
        ("--top", int, 200, "K", "target tokens for each source token"),
        ("--frequent", int, _FREQUENT, "N", "tokens that lex gives every sentence, by id"),
        ("--threads", int, None, "N", "sentences in parallel"),
    ]  # fmt: skip
    for name, kind, value, metavar, text in numbers:
        text = text if value is None else f"{text} (default: %(default)s)"
        parser.add_argument(name, type=kind, default=value, metavar=metavar, help=text)
    parser.add_argument(
        "--tokenizer", type=Path, metavar="DIR", help="tokenizers, if MODEL is a lexicon file"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")


def execute(arguments: argparse.Namespace) -> None:
    """Distils or opens, writes, and says how much."""
    if arguments.top < 1:
        raise ConfigError(f"--top: got {arguments.top}, expected 1 or more")
    lexicon, tokenizers = (_stored if arguments.text is None else _distilled)(arguments)
    top, frequent = arguments.top, arguments.frequent
    write(arguments.output, arguments.to, lexicon, tokenizers, top, frequent)
    rows = lexicon.pruned(arguments.top)
    sources = sum(1 for size in (rows.offsets[1:] - rows.offsets[:-1]).tolist() if size)
    print(f"{arguments.output}: {len(rows.targets)} entries of {sources} source tokens")


def write(
    output: Path,
    to: str,
    lexicon: "Lexicon",
    tokenizers: "Tokenizers",
    top: int,
    frequent: int = _FREQUENT,
) -> None:
    """Writes a lexicon: `top` tokens a row and, for `lex`, `frequent` ones of every sentence."""
    from sieve.files import whole_file
    from sieve.importers.marian.marian_shortlist import write_marian_shortlist
    from sieve.selection.exchange import write_lexicon

    if to != _BINARY:
        write_lexicon(output, _NAMES.get(to, to), lexicon, tokenizers, top)
        return
    eos = tokenizers.target.specials.eos
    if not eos < frequent <= lexicon.tgt_vocab_size:
        raise ConfigError(
            f"--frequent: got {frequent}, expected {eos + 1} to {lexicon.tgt_vocab_size}: EOS, "
            f"which has the id {eos}, must be in every shortlist"
        )
    with whole_file(output) as partial:
        partial.write_bytes(write_marian_shortlist(lexicon, top, frequent))


def _stored(arguments: argparse.Namespace) -> "tuple[Lexicon, Tokenizers]":
    from sieve.bundle.directory import LEXICON_FILE
    from sieve.importers.opening import model_directory
    from sieve.selection.lexicon_files import open_with_tokenizers

    path: Path = arguments.model
    if path.suffix != ".safetensors" and not (path / LEXICON_FILE).is_file():
        path = model_directory(path)
        if not (path / LEXICON_FILE).is_file():
            raise ModelError(
                f"{arguments.model}: has no lexicon.safetensors to export; --text TEXT distils "
                "its selection head"
            )
    return open_with_tokenizers(path, arguments.tokenizer)


def _distilled(arguments: argparse.Namespace) -> "tuple[Lexicon, Tokenizers]":
    from sieve.bundle.directory import open_bundle
    from sieve.data.reading import read_lines
    from sieve.engines.native.native_engine import NativeEngine
    from sieve.importers.head_lexicon import DistilOptions, lexicon_of_head
    from sieve.importers.opening import model_directory
    from sieve.tokenize.tokenizer import source_ids
    from sieve.translate.load import selection_resources

    bundle = open_bundle(model_directory(arguments.model))
    stored = selection_resources(bundle).threshold
    if stored is None:
        raise ModelError(
            f"{arguments.model}: has no selection head to distil; give it one with sieve attach, "
            "or leave out --text to export its lexicon"
        )
    threshold = stored if arguments.threshold is None else arguments.threshold
    lines = [line for line in islice(read_lines(arguments.text), arguments.limit or None) if line]
    if not lines:
        raise InputError(f"{arguments.text}: got no lines, expected text to distil the head over")
    tokenizers = bundle.tokenizers()
    lexicon = lexicon_of_head(
        NativeEngine.open(bundle, threads=arguments.threads),
        source_ids(tokenizers.source, lines),
        (tokenizers.source.vocab_size, tokenizers.target.vocab_size),
        DistilOptions(threshold, arguments.top),
    )
    return lexicon, tokenizers
