"""`sieve translate` of lines: as they arrive, or from file to file so that a killed run resumes."""

import argparse
import dataclasses
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import sieve
from sieve.cli.lines import (
    arriving_lines,
    as_json,
    decode,
    is_compressed,
    open_input,
    standard_input,
)
from sieve.errors import InputError
from sieve.log import logger, progress
from sieve.translate.raw_lines import LONG, as_line, utf8, utf8_lines

if TYPE_CHECKING:
    from tqdm import tqdm

    from sieve.translate.resumable import ResumableFile
    from sieve.translate.translation import Request, Translation
    from sieve.translate.translator import Translator

_CHUNK = 1024  # lines of a file translated at a time: enough to sort into even batches
_SHOWN = 80  # characters of a line in a warning
_NO_MATTER = ("verbose", "model", "text", "input", "output", "threads", "glossary")
"""Options that change no output, or whose content is noted instead."""


@dataclass(frozen=True)
class Lines:
    """What is done with every line."""

    translator: "Translator"
    request: "Request"
    prefix: str
    json: bool

    def batches(self, lines: Sequence[str]) -> Iterator[Sequence[str]]:
        """Lines to translate together, in order; one that is translated by pieces is alone."""
        start = 0
        for end in (place for place, line in enumerate(lines) if self.is_long(line)):
            yield from filter(None, (lines[start:end], lines[end : end + 1]))
            start = end + 1
        yield from filter(None, (lines[start:],))

    def is_long(self, line: str) -> bool:
        """Whether a line is translated by pieces."""
        return len(line) > LONG and not self.json

    def begun(self, lines: Sequence[str]) -> "Request":
        """The request for some lines, all of which begin with the prefix."""
        if not self.prefix:
            return self.request
        return dataclasses.replace(self.request, prefixes=(self.prefix,) * len(lines))

    def written(self, translation: "Translation") -> bytes:
        """A translation as a line of the output."""
        return as_json(translation.to_dict()) if self.json else as_line(translation.text)

    def warn(self, translations: Sequence["Translation"], lines: Sequence[str]) -> None:
        """Says on stderr what could not be kept of lines."""
        for translation, line in zip(translations, lines, strict=True):
            for warning in translation.warnings:
                logger.warning("%s: %s", warning, line[:_SHOWN])

    def by_pieces(self, line: str) -> Iterator[bytes]:
        """The output of a long line."""
        from sieve.translate.pieces import translated_pieces

        bar: tqdm[Any] = progress(total=len(line), unit=" characters", label="long line")
        for piece in translated_pieces(self.translator, line, self.request, self.prefix):
            yield as_line(piece.text)[:-1]
            bar.update(piece.characters)
        bar.close()
        yield b"\n"


def translate_stream(lines: Lines, arguments: argparse.Namespace) -> None:
    """Lines as they arrive; from a pipe, an answer never waits for more input."""
    from sieve.files import whole_file

    with ExitStack() as stack:
        read, name = _source(arguments, stack)
        chunks = utf8(read, name)
        first = next(chunks, b"")  # what is no text is refused before anything is written
        target: BinaryIO = sys.stdout.buffer
        if arguments.output:
            path = stack.enter_context(whole_file(arguments.output))
            target = stack.enter_context(path.open("wb"))
        for arrived in arriving_lines(_before(first, chunks)):
            for batch in lines.batches(arrived):
                if lines.is_long(batch[0]):
                    target.writelines(lines.by_pieces(batch[0]))
                    continue
                translations = lines.translator.run(batch, lines.begun(batch))
                target.writelines(map(lines.written, translations))
                lines.warn(translations, batch)
            target.flush()


def _before(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from chunks


def _source(arguments: argparse.Namespace, stack: ExitStack) -> tuple[Callable[[int], bytes], str]:
    """Reads the text to translate, and what to call it in errors."""
    if arguments.text is not None:
        text = os.fsencode(arguments.text)
        return io.BytesIO(text if text.endswith(b"\n") else text + b"\n").read, "TEXT"
    if is_compressed(arguments.input):
        from sieve.bulk.inputs import InputFile

        packed = InputFile(str(arguments.input), arguments.input.name)
        return stack.enter_context(packed.open()).read, packed.path
    if arguments.input:
        return stack.enter_context(open_input(arguments.input)).read, str(arguments.input)
    descriptor = standard_input().fileno()
    return lambda size: os.read(descriptor, size), "standard input"


def resumable(arguments: argparse.Namespace) -> "ResumableFile | None":
    """The output of a run that can be resumed: from a file into a file."""
    from sieve.files import replaceable
    from sieve.translate.resumable import ResumableFile

    if not arguments.input or not arguments.output or not arguments.input.is_file():
        return None
    output = replaceable(arguments.output)
    if output is None:
        return None
    if output.exists() and output.samefile(arguments.input):
        raise InputError(f"{arguments.output}: is also the input; choose another --output")
    with open_input(arguments.input) as source:
        utf8_lines(source, str(arguments.input))  # refuses what is no text
    return ResumableFile(output, _made_with(arguments))


def _made_with(arguments: argparse.Namespace) -> dict[str, str]:
    """What the lines of an output depend on: options, input, glossary, model and version."""
    from sieve.bundle.directory import open_bundle
    from sieve.bundle.integrity import content_hashes
    from sieve.files import file_hash
    from sieve.importers.opening import model_directory

    status = arguments.input.stat()
    made_with = {
        f"--{name.replace('_', '-')}": str(value)
        for name, value in vars(arguments).items()
        if name not in _NO_MATTER
    }
    made_with["input"] = f"{arguments.input.resolve()} {status.st_size} {status.st_mtime_ns}"
    made_with["version of Sieve"] = sieve.__version__
    if arguments.glossary:
        made_with["glossary"] = file_hash(arguments.glossary)
    model = open_bundle(model_directory(arguments.model)).directory
    return made_with | content_hashes(model)


def translate_file(lines: Lines, arguments: argparse.Namespace, output: "ResumableFile") -> None:
    """File to file, resuming where an interrupted run stopped."""
    path: Path = arguments.input
    with open_input(path) as source:
        waiting = utf8_lines(source, str(path))
        done = output.resume()
        if done:
            logger.info("%s: resuming at line %d of %d", arguments.output, done + 1, _count(path))
        number = sum(1 for _ in zip(range(done), waiting, strict=False))
        bar: tqdm[Any] = progress(total=path.stat().st_size, unit="B", label=path.name)
        bar.update(source.tell())
        while raw_lines := [line for _, line in zip(range(_CHUNK), waiting, strict=False)]:
            texts = [decode(raw, number + i) for i, raw in enumerate(raw_lines, start=1)]
            for batch in lines.batches(texts):
                if lines.is_long(batch[0]):
                    output.write(lines.by_pieces(batch[0]))
                    continue
                translations = lines.translator.run(batch, lines.begun(batch))
                output.write(map(lines.written, translations))
                lines.warn(translations, batch)
            number += len(texts)
            bar.update(sum(map(len, raw_lines)))
        bar.close()


def _count(path: Path) -> int:
    with open_input(path) as source:
        return sum(1 for _ in utf8_lines(source, str(path)))
