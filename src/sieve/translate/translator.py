"""Text in, text out: tokenizes, sorts into batches, asks an engine, and puts things back in order.

Knows which selections a model offers, and no engine by name: `load` picks one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn, overload

import numpy as np

from sieve.engines.engine import Engine, Hypothesis
from sieve.engines.options import Blocked, SearchOptions
from sieve.errors import ConfigError, InputError
from sieve.repair.clock import put_times_right
from sieve.repair.literals import put_right
from sieve.repair.lost_words import with_lost_words
from sieve.repair.names import Names
from sieve.repair.surface import Surface, look_at
from sieve.repair.terms import run_with_glossary
from sieve.segment import sentences
from sieve.selection.plan import Selector
from sieve.selection.selectors import Adjusted, Resources, parse_selection
from sieve.tokenize.spelling import open_ids, pieces_of, spellings
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import EOS, IntArray
from sieve.translate.confidence import Confidence
from sieve.translate.parts import joined, shifted
from sieve.translate.streams import checked, file_lines, in_order, write_lines
from sieve.translate.translation import Request, Translation

BATCH_TOKENS = 4096
"""Most padded source tokens in one call of the engine."""
LONGEST = 128
"""Lines of more source tokens are split into sentences; no part is longer."""


class Translator:
    """A model that translates text. Made by `sieve.load`."""

    def __init__(
        self,
        engine: Engine[Any],
        tokenizers: Tokenizers,
        resources: Resources,
        languages: tuple[str, str] = ("", ""),
        batch_tokens: int | None = None,
        confidence: Confidence | None = None,
    ) -> None:
        self.engine = engine
        self.tokenizers = tokenizers
        self.resources = resources
        self.languages = languages
        self.batch_tokens = batch_tokens
        self.confidence = confidence
        self.names = Names()
        """Where it is known what is a name, those misspelt or lost are put right."""

    @overload
    def translate(
        self,
        text: str,
        *,
        selection: str | None = None,
        threshold: float | None = None,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        prefix: str = "",
    ) -> Translation: ...

    @overload
    def translate(
        self,
        text: list[str] | tuple[str, ...],
        *,
        selection: str | None = None,
        threshold: float | None = None,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        prefix: str | Sequence[str] = "",
    ) -> list[Translation]: ...

    @overload
    def translate(
        self,
        text: Iterator[str],
        *,
        selection: str | None = None,
        threshold: float | None = None,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        prefix: str = "",
    ) -> Iterator[Translation]: ...

    def translate(  # noqa: PLR0913 (a request in words; `run` takes it as one value)
        self,
        text: str | list[str] | tuple[str, ...] | Iterator[str],
        *,
        selection: str | None = None,
        threshold: float | None = None,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        prefix: str | Sequence[str] = "",
    ) -> Translation | list[Translation] | Iterator[Translation]:
        """Translates one text, or several in one go; the order is kept and empty ones stay empty.

        >>> import sieve
        >>> translator = sieve.load("en-de")
        >>> translator.translate("Good morning!").text
        'Guten Morgen!'
        >>> [one.text for one in translator.translate(["Good morning!", "Thank you!"])]
        ['Guten Morgen!', 'Danke!']
        >>> for one in translator.translate(line for line in ("Good morning!", "")):
        ...     print(one.text, one.shortlist_size < one.vocab_size)
        Guten Morgen! True
         True

        Args:
            text: A sentence; a list or tuple of them, for a list of translations; or anything else
                that gives sentences one by one, for an iterator that reads on as it is read. A
                long sentence is split and joined again.
            selection: `none`, `frequent:N`, `lexicon:K`, `nvs:λ`, joined by `+`. By default `nvs`
                at the model's own threshold where it has a head, else `none`.
            threshold: Short for `selection="nvs:threshold"`.
            beam_size: Short for `options=SearchOptions(beam_size=beam_size)`.
            options: How to search.
            include: Words that may be used whatever the selection says.
            exclude: Words that may not be used.
            prefix: What the translation must begin with, or a list of them.
        """
        if not isinstance(text, str | Iterable) or isinstance(text, bytes):
            raise InputError(f"text: got {type(text).__name__}, expected a string or several")
        listed = isinstance(text, str | list | tuple)
        lines = [text] if isinstance(text, str) else checked(text) if listed else []
        options = options or SearchOptions()
        if beam_size is not None:
            options = replace(options, beam_size=beam_size)
        prefixes = (prefix,) * len(lines) if isinstance(prefix, str) else tuple(prefix)
        if prefixes and not listed:
            raise InputError("prefix: got a list with an iterator of texts, expected one string")
        request = Request(
            _one_selection(selection, threshold),
            options,
            tuple(include),
            tuple(exclude),
            prefixes if any(prefixes) else (),
        )
        if not listed:
            return in_order(text, lambda some: self.run(some, _begun(request, prefix, len(some))))
        translations = self.run(lines, request)
        return translations[0] if isinstance(text, str) else translations

    def translate_file(self, source: str | Path, target: str | Path, **options: Any) -> int:
        """Translates a UTF-8 file line by line and gives the number of lines.

        The target is written whole or not at all; `sieve translate --input --output` can go on
        after an interruption.

        Args:
            source: To read, a sentence or paragraph a line.
            target: To write.
            options: Of `translate`.
        """
        return write_lines(target, self.translate(file_lines(source), **options))

    @overload
    async def atranslate(self, text: str, **options: Any) -> Translation: ...

    @overload
    async def atranslate(
        self, text: list[str] | tuple[str, ...], **options: Any
    ) -> list[Translation]: ...

    async def atranslate(
        self, text: str | list[str] | tuple[str, ...], **options: Any
    ) -> Translation | list[Translation]:
        """As `translate`, while other tasks of the event loop go on.

        >>> import asyncio, sieve
        >>> asyncio.run(sieve.load("en-de").atranslate("Good morning!")).text
        'Guten Morgen!'

        The work is done in a thread, which ends what it began when the task is cancelled.
        """
        if not isinstance(text, str | list | tuple):
            raise InputError(f"text: got {type(text).__name__}, expected a string or a list")
        found: Translation | list[Translation] = await asyncio.to_thread(
            lambda: self.translate(text, **options)
        )
        return found

    def __reduce__(self) -> NoReturn:
        raise ConfigError(
            "a Translator cannot be pickled: call sieve.load in each process, or fork after it"
        )

    def selector(self, selection: str | None = None, threshold: float | None = None) -> Selector:
        """The selector that `translate` uses for these arguments."""
        return parse_selection(_one_selection(selection, threshold), self.resources)

    def run(self, lines: Sequence[str], request: Request) -> list[Translation]:
        """Translates lines as a request says."""
        if request.prefixes and len(request.prefixes) != len(lines):
            raise InputError(f"got {len(request.prefixes)} prefixes for {len(lines)} texts")
        parts = [self._split(line) for line in lines]
        flat = [part for line in parts for part in line]
        starts = np.cumsum([0, *map(len, parts)]).tolist()
        options = request.options
        if request.glossary is None:
            prefixes = [""] * len(flat)
            for line, prefix in enumerate(request.prefixes):
                if parts[line]:
                    prefixes[starts[line]] = prefix  # of its first sentence
            found = self._translate(flat, *self._constrained(request), prefixes)
            if self.languages[0] and not (request.include or request.exclude):
                found = self._with_lost_words(flat, found, prefixes, request)
        elif request.prefixes or options.n_best > 1:
            raise InputError("prefix, n_best: cannot be given together with a glossary")
        else:
            plain = replace(request, glossary=None)
            found = [[one] for one in run_with_glossary(self, flat, plain, request.glossary)]
        if options.alignment:
            sizes = list(map(len, self.tokenizers.source.encode(flat)))
            found = shifted(found, sizes, starts)
        return [
            joined(found[a:b], options, self.languages[1]) or self._copied("")
            for a, b in pairwise(starts)
        ]

    def _with_lost_words(
        self,
        lines: Sequence[str],
        found: list[list[Translation]],
        prefixes: Sequence[str],
        request: Request,
    ) -> list[list[Translation]]:
        """With names and dates put right, but in lines whose translation has a given beginning."""
        options = request.options
        once = options.n_best == 1 and options.sampling is None and not options.alignment

        def search(again: list[str]) -> list[list[Translation]]:
            return self._translate(again, *self._constrained(request), [""] * len(again))

        free = [row for row, prefix in enumerate(prefixes) if not prefix]
        right = with_lost_words(
            [lines[row] for row in free],
            [found[row] for row in free],
            self.names,
            search if once else None,
        )
        changed = dict(zip(free, right, strict=True))
        return [changed.get(row, some) for row, some in enumerate(found)]

    def score(
        self, sources: Sequence[str], targets: Sequence[str], selection: str | None = None
    ) -> list[Translation]:
        """Log-probabilities of given translations; −inf for words that are not selected."""
        if len(sources) != len(targets):
            raise InputError(f"got {len(sources)} source and {len(targets)} target lines")
        selector = self.selector(selection)
        src_ids = self._encoded(sources)
        tgt_ids = self.tokenizers.target.encode(targets)
        results: dict[int, Translation] = {}
        lengths = [max(len(s), len(t) + 1) for s, t in zip(src_ids, tgt_ids, strict=True)]
        for rows in _batches(lengths, self.batch_tokens or BATCH_TOKENS, least=0):
            found = self.engine.score(
                [src_ids[row] for row in rows], [tgt_ids[row] for row in rows], selector
            )
            for row, one in zip(rows, found, strict=True):
                results[row] = self._finish(one, SearchOptions())
        return [results[row] for row in range(len(sources))]

    def _constrained(self, request: Request) -> tuple[Selector, SearchOptions]:
        """Selector and options with the request's words worked in."""
        selector, options = self.selector(request.selection), request.options
        target = self.tokenizers.target
        include = {index for word in request.include for index in pieces_of(target, word)}
        dropped: set[int] = set()
        blocked = list(options.blocked)
        for word in request.exclude:
            found = spellings(target, word)
            if not found:
                raise InputError(f"exclude '{word}': the vocabulary cannot spell it")
            for one in found:
                if len(one.ids) == 1 and not one.at_word_start:
                    dropped.add(one.ids[0])
                else:
                    blocked.append(Blocked(one.ids, one.at_word_start))
        if include or dropped:
            selector = Adjusted(selector, tuple(sorted(include)), tuple(sorted(dropped)))
        if len(blocked) > len(options.blocked):
            options = replace(options, blocked=tuple(blocked), open_ids=self._open_ids)
        return selector, options

    @cached_property
    def _open_ids(self) -> tuple[int, ...]:
        return open_ids(self.tokenizers.target)

    def _split(self, line: str) -> list[str]:
        if not line.strip():
            return []
        source = self.tokenizers.source
        if len(line) <= LONGEST:  # a token has a character at least, but for rare bytes
            return [line]
        return sentences.split(line, lambda text: len(source.encode([text])[0]), LONGEST)

    def _encoded(self, lines: Sequence[str]) -> list[IntArray]:
        return [np.array([*ids, EOS]) for ids in self.tokenizers.source.encode(list(lines))]

    def _translate(
        self,
        lines: Sequence[str],
        selector: Selector,
        options: SearchOptions,
        prefixes: Sequence[str],
    ) -> list[list[Translation]]:
        """The translations of each line, best first; none for a line without a token."""
        plain = options.alignment or any(prefixes)  # positions and prefixes are those of the line
        surfaces = [look_at(line, self.languages[0], plain) for line in lines]
        sources = self._encoded([one.text for one in surfaces])
        forced = self.tokenizers.target.encode(list(prefixes)) if any(prefixes) else None
        results: list[list[Translation]] = [[] for _ in lines]
        lengths = [len(source) for source in sources]
        for row, surface in enumerate(surfaces):
            if not surface.text and surface.line:
                results[row] = [self._copied(surface.line)]
        for rows in _batches(lengths, self.batch_tokens or BATCH_TOKENS):
            found = self.engine.translate(
                [sources[row] for row in rows],
                selector,
                options,
                None if forced is None else [forced[row] for row in rows],
            )
            for row, hypotheses in zip(rows, found, strict=True):
                results[row] = [self._on(surfaces[row], one, options) for one in hypotheses]
        return results

    def _on(self, surface: Surface, hypothesis: Hypothesis, options: SearchOptions) -> Translation:
        """A translation as it belongs to the line that was given."""
        found = self._finish(hypothesis, options)
        text = found.text
        if self.languages[0]:
            text = put_right(surface.line, surface.finish(text))
            text = put_times_right(surface.line, text, self.languages)
        return replace(found, text=text, confidence=self._confidence(hypothesis, options))

    def _copied(self, line: str) -> Translation:
        return Translation(line, 0.0, 0, self.engine.vocab_size, (), ())

    def _finish(self, hypothesis: Hypothesis, options: SearchOptions) -> Translation:
        target = self.tokenizers.target
        return Translation(
            text=target.decode([hypothesis.tokens])[0],
            score=hypothesis.score,
            shortlist_size=hypothesis.shortlist_size,
            vocab_size=self.engine.vocab_size,
            pieces=tuple(target.piece(token) for token in hypothesis.tokens),
            token_scores=hypothesis.token_scores,
            normalized_score=hypothesis.normalized_score(options.length_penalty),
            positions=hypothesis.positions,
            returns=hypothesis.returns,
        )

    def _confidence(self, hypothesis: Hypothesis, options: SearchOptions) -> float | None:
        if options.lossless or hypothesis.shortlist_size == self.engine.vocab_size:
            return 1.0
        if self.confidence is None or hypothesis.margin is None:
            return None
        return self.confidence.of(hypothesis)


def _begun(request: Request, prefix: str | Sequence[str], number: int) -> Request:
    """A request for some lines, all of which begin with the prefix."""
    return replace(request, prefixes=(str(prefix),) * number) if prefix else request


def _one_selection(selection: str | None, threshold: float | None) -> str | None:
    if threshold is None:
        return selection
    if selection is not None:
        raise ConfigError(
            f"got threshold {threshold} and selection '{selection}', expected one of them"
        )
    return f"nvs:{threshold}"


def _batches(lengths: Sequence[int], batch_tokens: int, least: int = 2) -> Iterator[list[int]]:
    """Rows of similar length together; shorter ones than `least` are left out."""
    rows = [row for row, length in enumerate(lengths) if length >= least]
    batch: list[int] = []
    for row in sorted(rows, key=lambda row: lengths[row]):
        if batch and (len(batch) + 1) * lengths[row] > batch_tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
