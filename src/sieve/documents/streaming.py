"""A file through its reader, a translator and its writer, a window at a time.

What is in memory is a window of some hundred sentences, however long the document.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

from sieve.documents.blocks import Block, Member, Piece
from sieve.documents.document import Document, token_counter
from sieve.documents.formats import DamagedError, Format
from sieve.documents.recognition import named, recognised
from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError, InputError
from sieve.files import whole_file
from sieve.translate.translation import Request, Translation
from sieve.translate.translator import Translator

_SENTENCES_WORTH = 32 << 10
"""Characters of blocks in a window: some hundred sentences, enough to sort into even batches."""
_WINDOW = 1 << 20
"""Most characters of a window, markup included."""

Answer: TypeAlias = Callable[[Document], Sequence[Translation]]
"""Translates the sentences of a window."""


def translate_file(
    translator: Translator,
    source: str | Path,
    target: str | Path,
    format: str | None = None,
    columns: Sequence[str | int] = (),
    **options: Any,
) -> None:
    """Translates a document; whatever is no text for people stays as it is.

    The target is written whole or not at all.

    Args:
        translator: What `sieve.load` gave.
        source: To read.
        target: To write.
        format: One of `sieve.documents.FORMATS`; by default what the file's content and name say.
        columns: Of a table in CSV or TSV, by name or by number from 1; by default those of text.
        options: Of `Translator.translate`: `selection`, `threshold`, `beam_size`, `include`, …
    """
    source, target = Path(source), Path(target)
    with opened(source) as file:
        kind = recognised(file, source.name, format).named(target.name)
        kind = kind.of_columns([str(column) for column in columns])
        with whole_file(target) as partial, partial.open("wb") as out:
            answer = answering(translator, **options)
            translate_stream(file, out, kind, (translator, answer), str(source))


def translate_bytes(
    translator: Translator,
    data: bytes,
    name: str = "",
    format: str | None = None,
    columns: Sequence[str | int] = (),
    **options: Any,
) -> bytes:
    """Translates a document in memory.

    Examples:
        >>> import sieve
        >>> translator = sieve.load("en-de")
        >>> translate_bytes(translator, b"<p>Good <b>morning</b>!</p>", "page.html")
        b'<p>Guten <b>Morgen</b>!</p>'

    Args:
        translator: What `sieve.load` gave.
        data: The document.
        name: Its file name, which tells formats apart where the content does not.
        format: One of `sieve.documents.FORMATS`; by default what the content and the name say.
        columns: Of a table in CSV or TSV, by name or by number from 1; by default those of text.
        options: Of `Translator.translate`: `selection`, `threshold`, `beam_size`, `include`, …
    """
    source, target = io.BytesIO(data), io.BytesIO()
    kind = recognised(source, name, format).of_columns([str(column) for column in columns])
    translate_stream(source, target, kind, (translator, answering(translator, **options)), name)
    return target.getvalue()


def translate_document(translator: Translator, text: str, format: str, **options: Any) -> str:
    """Translates a document that is text; markup, code and layout stay.

    Examples:
        >>> import sieve
        >>> translator = sieve.load("en-de")
        >>> translate_document(translator, "<p>I gave her the apple <b>yesterday</b>.</p>", "html")
        '<p>Ich gab ihr <b>gestern</b> den Apfel.</p>'

    Args:
        translator: What `sieve.load` gave.
        text: The whole document.
        format: `html`, `markdown`, `text`, … In a text, lines stay lines.
        options: Of `Translator.translate`: `selection`, `threshold`, `beam_size`, `include`, …
    """
    document = read_document(text, format, token_counter(translator))
    return document.written(translator, answering(translator, **options)(document))


def read_document(text: str, format: str, length: Callable[[str], int] = len) -> Document:
    """Reads a document that is text; whatever it holds, it can be read.

    Args:
        text: The whole document.
        format: `html`, `markdown`, `text`, …
        length: Number of tokens of a sentence; longer ones than a model takes are cut.
    """
    kind = named(format)
    if kind.parts is None:
        raise ConfigError(f"format: got '{format}', which is no text; use translate_bytes")
    return Document.of(tuple(kind.parts(text)), length)


def answering(translator: Translator, **options: Any) -> Answer:
    """What translates windows with options of `Translator.translate`."""
    request = Request(options=options.pop("options", None) or SearchOptions())

    def run(texts: list[str], asked: Request) -> list[Translation]:
        return translator.translate(texts, options=asked.options, **options)

    return lambda document: document.translations(request, run)


def translate_stream(
    source: IO[bytes],
    target: IO[bytes],
    format: Format,
    by: tuple[Translator, Answer],
    name: str = "",
) -> None:
    """Reads one file and writes another.

    Args:
        source: An open file that can be rewound.
        target: An open file.
        format: Of both.
        by: Who says what came from where, and what translates a window.
        name: Of the source, for errors.
    """
    try:
        format.write(filled(format.read(source), *by), target)
    except DamagedError as error:
        raise InputError(f"{name}: {error}" if name else str(error)) from None


def filled(
    pieces: Iterable[Piece], translator: Translator, answer: Answer
) -> Iterator[str | Member]:
    """What a reader hands over with translations in place, window by window."""
    for document in windows(pieces, token_counter(translator)):
        yield from document.pieces(translator, answer(document))


def windows(pieces: Iterable[Piece], length: Callable[[str], int]) -> Iterator[Document]:
    """Cuts what a reader hands over into windows."""
    waiting: list[Piece] = []
    text = size = 0
    for piece in pieces:
        waiting.append(piece)
        if isinstance(piece, Block):
            text += len(piece.raw)
        elif isinstance(piece, str):
            size += len(piece)
        if text >= _SENTENCES_WORTH or text + size >= _WINDOW:
            yield Document.of(waiting, length)
            waiting, text, size = [], 0, 0
    if waiting:
        yield Document.of(waiting, length)


def opened(path: Path) -> IO[bytes]:
    """A file to read, or one line that says why it cannot be read."""
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
