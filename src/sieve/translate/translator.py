"""Text in, text out: splits lines, takes them through the repairs, asks an engine, joins them.

Knows which selections a model offers, and no engine and no repair by name: `load` picks them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload

from sieve.engines.engine import Engine
from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError, InputError
from sieve.repair.draft import Draft
from sieve.repair.glossary import Glossary
from sieve.repair.pipeline import Rounds
from sieve.repair.registry import NO_REPAIRS, Repairs
from sieve.selection.parsing import Resources, parse_selection
from sieve.selection.plan import Selector
from sieve.tokenize.tokenizer import Tokenizers, source_ids
from sieve.translate.asking import Wishes, begun, check, one_selection, with_wishes
from sieve.translate.calls import RequestSearch, batches
from sieve.translate.column import Column, PandasSeries
from sieve.translate.confidence import Confidence
from sieve.translate.estimated_quality import Quality
from sieve.translate.finish import Finish
from sieve.translate.parts import MAX_TOKENS, split
from sieve.translate.streams import checked, file_lines, in_order, write_lines
from sieve.translate.translation import Request, Translation

if TYPE_CHECKING:
    from typing_extensions import Unpack

    AnySeries = TypeVar("AnySeries", bound=PandasSeries)

BATCH_TOKENS = 4096
"""Most padded source tokens in one call of the engine, unless a translator has its own number."""


class _Closed:
    """Stands where the engine of a closed translator was."""

    def __getattr__(self, name: str) -> NoReturn:
        raise ConfigError("this translator is closed; open the model again with sieve.load")


@dataclass(frozen=True, eq=False, repr=False)
class Translator:
    """A model that translates text. Made by `sieve.load`."""

    engine: Engine[Any]
    tokenizers: Tokenizers
    resources: Resources
    languages: tuple[str, str] = ("", "")
    batch_tokens: int = BATCH_TOKENS
    confidence: Confidence | None = None
    repairs: Repairs = NO_REPAIRS
    """What is done around the model."""
    quality: Quality | None = None
    """Says how good each translation is likely to be."""
    max_tokens: int = MAX_TOKENS
    """Lines of more source tokens are split into sentences."""

    @overload
    def translate(self, text: str, **wishes: Unpack[Wishes]) -> Translation: ...

    @overload
    def translate(
        self, text: list[str] | tuple[str, ...], **wishes: Unpack[Wishes]
    ) -> list[Translation]: ...

    @overload
    def translate(self, text: Iterator[str], **wishes: Unpack[Wishes]) -> Iterator[Translation]: ...

    @overload
    def translate(self, text: AnySeries, **wishes: Unpack[Wishes]) -> AnySeries: ...

    def translate(  # noqa: PLR0913 (a request in words; `run` takes it as one value)
        self,
        text: str | list[str] | tuple[str, ...] | Iterator[str] | PandasSeries,
        *,
        selection: str | None = None,
        threshold: float | None = None,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        prefix: str | Sequence[str] = "",
        glossary: Glossary | None = None,
        lossless: bool | None = None,
        repair: bool = True,
    ) -> Translation | list[Translation] | Iterator[Translation] | PandasSeries:
        """Translates one text, or several in one go; the order is kept and empty ones stay empty.

        Examples:
            >>> import sieve
            >>> translator = sieve.load("en-de")
            >>> translator.translate("Good morning!").text
            'Guten Morgen!'
            >>> translations = translator.translate(["Good morning!", "Thank you!"])
            >>> [translation.text for translation in translations]
            ['Guten Morgen!', 'Danke!']
            >>> for translation in translator.translate(line for line in ("Good morning!", "")):
            ...     print(translation.text, translation.shortlist_size < translation.vocab_size)
            Guten Morgen! True
             True
            >>> terms = sieve.Glossary((("morning", "Vormittag"),))
            >>> translator.translate("Good morning!", glossary=terms, lossless=True).text
            'Guten Morgen!'

        Args:
            text: A sentence; a list or tuple of them, for a list of translations; or any other
                iterable of sentences, for an iterator that reads it as it is read itself; or a
                pandas Series, for a Series of translations. A long sentence is split and joined
                again; the line ends of a text stay.
            selection: `none`, `frequent:N`, `lexicon:K`, `nvs:λ`, joined by `+`. By default `nvs`
                at the model's own threshold where it has a head, else `none`.
            threshold: Short for `selection="nvs:threshold"`.
            beam_size: Short for `options=SearchOptions(beam_size=beam_size)`.
            options: How to search.
            include: Words that may be used whatever the selection says.
            exclude: Words that may not be used.
            prefix: What the translation must begin with, or a list of them.
            glossary: Phrases whose translations may be used whatever the selection says.
            lossless: Short for `options=SearchOptions(lossless=lossless)`.
            repair: Whether to correct what models do badly: names, numbers, times, capitals, …
        """
        column = Column.of(text)
        if column is not None:
            text = column.texts
        if not isinstance(text, str | Iterable) or isinstance(text, bytes):
            raise InputError(f"text: got {type(text).__name__}, expected a string or several")
        listed = isinstance(text, str | list | tuple)
        lines = [text] if isinstance(text, str) else checked(text) if listed else []
        options = with_wishes(options, beam_size=beam_size, lossless=lossless)
        prefixes = (prefix,) * len(lines) if isinstance(prefix, str) else tuple(prefix)
        if prefixes and not listed:
            raise InputError("prefix: got a list with an iterator of texts, expected one string")
        request = Request(
            one_selection(selection, threshold),
            options,
            tuple(include),
            tuple(exclude),
            prefixes if any(prefixes) else (),
            glossary,
            repair=repair,
        )
        if not listed:
            return in_order(text, lambda chunk: self.run(chunk, begun(request, prefix, len(chunk))))
        translations = self.run(lines, request)
        if column is not None:
            return column.filled(translations)  # type: ignore[no-any-return]
        return translations[0] if isinstance(text, str) else translations

    def translate_file(self, source: str | Path, target: str | Path, **options: Any) -> int:
        """Translates a UTF-8 file line by line and gives the number of lines.

        The target is written whole or not at all; `sieve translate --input --output` can resume
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

        Examples:
            >>> import asyncio, sieve
            >>> asyncio.run(sieve.load("en-de").atranslate("Good morning!")).text
            'Guten Morgen!'

        The work is done in a thread, which ends what it began when the task is cancelled.
        """
        if not isinstance(text, str | list | tuple):
            raise InputError(f"text: got {type(text).__name__}, expected a string or a list")
        import asyncio  # here: whoever does not await need not wait for it

        result: Translation | list[Translation] = await asyncio.to_thread(
            lambda: self.translate(text, **options)
        )
        return result

    def __enter__(self) -> Translator:
        return self

    def __exit__(self, *error: object) -> None:
        """Lets go of the model; variants of this translator keep it."""
        object.__setattr__(self, "engine", _Closed())

    def __reduce__(self) -> NoReturn:
        raise ConfigError(
            "a Translator cannot be pickled: call sieve.load in each process, or fork after it"
        )

    def selector(self, selection: str | None = None, threshold: float | None = None) -> Selector:
        """The selector that `translate` uses for these arguments."""
        return parse_selection(one_selection(selection, threshold), self.resources)

    def run(self, lines: Sequence[str], request: Request) -> list[Translation]:
        """Translates lines as a request says."""
        check(lines, request)
        parts = split(lines, request, self.tokenizers.source, self.max_tokens)
        search, finish = self._search(request), self._finish(request.options)
        rounds = Rounds(parts.sentences, self._repairs(request).steps)
        while queries := rounds.queries:
            answers: list[list[Draft]] = [[] for _ in queries]
            for call in search.calls(queries):
                ranked = self.engine.translate(
                    call.src_ids, call.selector, call.options, call.prefixes
                )
                for row, head, hypotheses in zip(call.rows, call.heads, ranked, strict=True):
                    answers[row] = [finish.draft(each, head) for each in hypotheses]
            rounds.answer(answers)
        source, language = self.tokenizers.source, self.languages[1]
        return finish.lines(parts, rounds.drafts, source, language, self.quality)

    def _search(self, request: Request) -> RequestSearch:
        selector = self.selector(request.selection)
        search = RequestSearch(
            self.tokenizers,
            self.batch_tokens,
            selector,
            request.options,
            request.include,
            request.exclude,
        )
        search.adjusted((), request.options.alignment)  # says at once what cannot be had
        return search

    def _repairs(self, request: Request) -> Repairs:
        repairs = self.repairs if request.repair else NO_REPAIRS
        if request.glossary is None:
            return repairs
        return repairs.with_glossary(request.glossary, request.force_glossary, self.tokenizers)

    def _finish(self, options: SearchOptions) -> Finish:
        target, size = self.tokenizers.target, self.engine.vocab_size
        return Finish(target, size, options, self.confidence)

    def score(
        self, sources: Sequence[str], targets: Sequence[str], selection: str | None = None
    ) -> list[Translation]:
        """Log-probabilities of given translations; −inf for tokens that are not selected."""
        if len(sources) != len(targets):
            raise InputError(f"got {len(sources)} source and {len(targets)} target lines")
        selector = self.selector(selection)
        src_ids = source_ids(self.tokenizers.source, sources)
        tgt_ids = self.tokenizers.target.encode(targets)
        results: dict[int, Translation] = {}
        finish = replace(self._finish(SearchOptions()), confident=False)
        lengths = [max(len(s), len(t) + 1) for s, t in zip(src_ids, tgt_ids, strict=True)]
        for rows in batches(lengths, self.batch_tokens, least=0):
            scored = self.engine.score(
                [src_ids[row] for row in rows], [tgt_ids[row] for row in rows], selector
            )
            for row, hypothesis in zip(rows, scored, strict=True):
                results[row] = finish.translation(finish.draft(hypothesis))
        return [results[row] for row in range(len(sources))]
