"""Lexicons on disk beside the tokenizers they were made with.

A lexicon lies in a model directory, in a directory of its own, or is a single file. May not know
how lexicons are built or used.
"""

from pathlib import Path

from sieve.bundle.directory import LEXICON_FILE
from sieve.bundle.integrity import replacing
from sieve.errors import InputError
from sieve.files import whole_directory
from sieve.log import logger
from sieve.selection.lexicon import Lexicon
from sieve.tokenize.tokenizer import Tokenizers, load_tokenizers


def own_lexicon(model: Path) -> Lexicon | None:
    """The lexicon of a model directory, where there is one."""
    return Lexicon.open(model) if (model / LEXICON_FILE).is_file() else None


def open_with_tokenizers(path: Path, directory: Path | None = None) -> tuple[Lexicon, Tokenizers]:
    """A lexicon and the tokenizers it was made with.

    Args:
        path: A directory or a .safetensors file.
        directory: Where the tokenizers are; by default beside the lexicon.
    """
    lexicon = Lexicon.open(path)
    beside = directory or (path if path.is_dir() else path.parent)
    tokenizers = load_tokenizers(beside)
    _check_tokenizers(lexicon, tokenizers, beside)
    return lexicon, tokenizers


def save_with_tokenizers(lexicon: Lexicon, output: Path, tokenizers: Tokenizers) -> None:
    """Writes into a directory with the same tokenizers, a new directory, or a .safetensors file."""
    if output.suffix == ".safetensors":
        output.parent.mkdir(parents=True, exist_ok=True)
        lexicon.save(output)
    elif output.is_dir() and any(output.iterdir()):
        _check_tokenizers(lexicon, load_tokenizers(output), output)
        with replacing(output, LEXICON_FILE):
            lexicon.save(output)
    else:
        with whole_directory(output) as partial:
            tokenizers.save(partial)
            lexicon.save(partial)
    logger.info("%s: %d entries, %s", output, len(lexicon.targets), lexicon.info["signature"])


def _check_tokenizers(lexicon: Lexicon, tokenizers: Tokenizers, where: Path) -> None:
    sizes = (tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    known = lexicon.info.get("tokenizer", tokenizers.fingerprint)
    if known != tokenizers.fingerprint or sizes != (lexicon.src_vocab_size, lexicon.tgt_vocab_size):
        raise InputError(f"{where}: the lexicon was made with other tokenizers than these")
