"""What one round of lines asks an engine: ids, sorted into batches of similar length.

Knows which words a request wants to see or not to see. Runs no engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from sieve.engines.options import Blocked, SearchOptions
from sieve.errors import InputError
from sieve.repair.step import Line
from sieve.selection.plan import Selector
from sieve.selection.selectors import Adjusted, FullVocabulary
from sieve.tokenize.spelling import open_ids, pieces_of, spellings
from sieve.tokenize.tokenizer import Tokenizers, source_ids
from sieve.tokenize.vocabulary import IntArray

_Kind = tuple[tuple[str, ...], bool, bool]  # words to include, with positions, thorough
_WIDE = 6  # least beam of a thorough search


@dataclass(frozen=True, eq=False)
class Call:
    """One call of an engine."""

    rows: list[int]
    """Which of the lines it is about."""
    src_ids: list[IntArray]
    heads: list[int]
    """How many ids stand before the text of each."""
    selector: Selector
    options: SearchOptions
    prefixes: list[list[int]] | None


@dataclass(frozen=True, eq=False)
class RequestSearch:
    """How all lines of a request are searched."""

    tokenizers: Tokenizers
    batch_tokens: int
    """Most padded source tokens in one call."""
    selector: Selector
    options: SearchOptions
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    _adjusted: dict[_Kind, tuple[Selector, SearchOptions]] = field(default_factory=dict)

    def calls(self, lines: Sequence[Line]) -> list[Call]:
        """What to ask an engine; lines without a token are left out."""
        source = self.tokenizers.source
        sources = source_ids(source, [line.tag + line.text for line in lines])
        heads = [1 if line.tag else len(source.specials.source_prefix) for line in lines]
        kinds: dict[_Kind, list[int]] = {}
        for row, line in enumerate(lines):
            kind = line.include, "alignment" in line.traits, line.thorough
            kinds.setdefault(kind, []).append(row)
        calls = []
        for kind, rows in kinds.items():
            selector, options = self.adjusted(*kind)
            prefixes = self._prefix_ids([lines[row].prefix for row in rows])
            for batch in batches(
                [len(sources[row]) - heads[row] for row in rows], self.batch_tokens
            ):
                chosen = [rows[place] for place in batch]
                forced = None if prefixes is None else [prefixes[place] for place in batch]
                ids = [sources[row] for row in chosen]
                tagged = [heads[row] for row in chosen]
                calls.append(Call(chosen, ids, tagged, selector, options, forced))
        return calls

    def adjusted(
        self, include: tuple[str, ...], alignment: bool, thorough: bool = False
    ) -> tuple[Selector, SearchOptions]:
        """Selector and options with the words of a request and of a line worked in."""
        kind = include, alignment, thorough
        if kind not in self._adjusted:
            self._adjusted[kind] = self._worked_in((*self.include, *include), alignment, thorough)
        return self._adjusted[kind]

    def _worked_in(
        self, include: Sequence[str], alignment: bool, thorough: bool
    ) -> tuple[Selector, SearchOptions]:
        selector, options, target = self.selector, self.options, self.tokenizers.target
        if thorough:
            selector = FullVocabulary()
            options = replace(options, beam_size=max(_WIDE, options.beam_size), lossless=False)
        added = {index for word in include for index in pieces_of(target, word)}
        blocked, dropped = self._unwanted
        if added or dropped:
            selector = Adjusted(selector, tuple(sorted(added)), dropped)
        if blocked:
            together = (*options.blocked, *blocked)
            options = replace(options, blocked=together, open_ids=open_ids(target))
        if options.alignment != alignment:
            options = replace(options, alignment=alignment)
        return selector, options

    @cached_property
    def _unwanted(self) -> tuple[list[Blocked], tuple[int, ...]]:
        """Sequences and single ids that may not occur."""
        blocked, dropped = [], set()
        for word in self.exclude:
            ways = spellings(self.tokenizers.target, word)
            if not ways:
                raise InputError(f"exclude '{word}': the vocabulary cannot spell it")
            for way in ways:
                if len(way.ids) == 1 and not way.at_word_start:
                    dropped.add(way.ids[0])
                else:
                    blocked.append(Blocked(way.ids, way.at_word_start))
        return blocked, tuple(sorted(dropped))

    def _prefix_ids(self, prefixes: Sequence[str]) -> list[list[int]] | None:
        return self.tokenizers.target.encode(list(prefixes)) if any(prefixes) else None


def batches(lengths: Sequence[int], batch_tokens: int, least: int = 2) -> Iterator[list[int]]:
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
