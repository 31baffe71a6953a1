"""`sieve translate --format`: one document in, one document out."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sieve.cli.lines import standard_input
from sieve.errors import ConfigError, InputError

if TYPE_CHECKING:
    from sieve.translate.translation import Request
    from sieve.translate.translator import Translator


def check_document_options(arguments: argparse.Namespace) -> None:
    """Refuses options that a document does not support."""
    for name in ("json", "prefix", "alignment"):
        if getattr(arguments, name):
            raise ConfigError(f"--format {arguments.format} does not support --{name}")
    if arguments.output and arguments.output.is_dir():
        raise InputError(f"{arguments.output}: is a directory, expected a file to write")


def run_document(
    translator: "Translator", request: "Request", arguments: argparse.Namespace
) -> None:
    """Translates a file or standard input; bytes that are no text pass through as they are."""
    from sieve.documents import read_document, token_counter

    text = _read(arguments.input).decode("utf-8", errors="surrogateescape")
    document = read_document(text, arguments.format, token_counter(translator))
    translated = document.requested(translator, request)
    _write(arguments.output, translated.encode("utf-8", errors="surrogateescape"))


def _read(path: Path | None) -> bytes:
    if path is None:
        return standard_input().buffer.read()
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _write(path: Path | None, data: bytes) -> None:
    if path is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    from sieve.files import whole_file

    with whole_file(path) as partial:
        partial.write_bytes(data)
