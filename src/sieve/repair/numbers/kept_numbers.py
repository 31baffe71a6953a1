"""Numbers that a translation lost, changed or made up, put right.

A translation is compared with its line. What it lacks is written over what it made up where the two
are alike; else the line is translated again with stand-ins for its numbers, and at last without the
numbers that are lost, which then go where the alignment says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sieve.repair.draft import Draft, Span
from sieve.repair.masks.patterns import LinePart
from sieve.repair.masks.placing import Loose, placed
from sieve.repair.masks.positions import as_of
from sieve.repair.numbers.accounts import Account, compared
from sieve.repair.numbers.day_half import hour_meant
from sieve.repair.numbers.glance import right_at_a_glance
from sieve.repair.numbers.money import money_kept
from sieve.repair.numbers.notation import in_notation
from sieve.repair.numbers.number_reader import Number, NumberReader, run_of
from sieve.repair.numbers.units import units_kept, units_lost
from sieve.repair.stand_ins import CODES, Masked, masked
from sieve.repair.step import Line, Retry, Step, Trait
from sieve.tokenize.tokenizer import Tokenizers

NAME = "numbers"
"""Of the step, in edits."""
_RANKED: frozenset[Trait] = frozenset(("n-best", "samples"))
_LIKE = 0.5  # share of digits in their place from which a number is taken for another
_MOST_PLACED = 4  # numbers; a table of results is not mended so
_SHORTEST = 3  # digits of numbers that may be alike


@dataclass(frozen=True)
class _Attempt:
    """A line's best draft so far."""

    line: Line
    draft: Draft
    account: Account
    number: int
    """How often it was translated again."""


@dataclass(frozen=True)
class KeptNumbers(Step):
    """Keeps the numbers of a line."""

    source: NumberReader
    target: NumberReader
    tokenizers: Tokenizers

    def after(self, line: Line, draft: Draft, state: None) -> Draft | Retry:
        """The draft with the line's numbers, or a retry where it lacks some."""
        if not self.source.has_words(line.text) and right_at_a_glance(line.text, draft.text):
            return draft
        draft, account = self._spelled(line, draft)
        if not account.faults:
            return draft
        best = self._swapped(_Attempt(line, draft, account, 0))
        if not best.account.faults or not _RANKED.isdisjoint(line.traits):
            return _warned(best)
        return self._next(best)

    def _spelled(self, line: Line, draft: Draft) -> tuple[Draft, Account]:
        """A draft with its language's signs in numbers, units kept and near misses mended."""
        account = self._account(line, draft)
        edits = [
            (theirs, self._written(ours))
            for ours, theirs in account.pairs
            if ours.kind == theirs.kind == "figures"
            and ours.values.isdisjoint(theirs.values)
            and ours.scaled == theirs.scaled
        ]
        for ours, theirs in account.pairs:
            if ours.kind == theirs.kind == "figures":
                hour = hour_meant(line.text, ours, theirs, draft.text)
                edits += [] if hour is None else [(theirs, hour)]
        for number in account.missing:
            like = next((each for each in account.strange if _alike(number, each)), None)
            if like is not None and all(like is not taken for taken, _ in edits):
                edits.append((like, self._written(number)))
        for place, text in sorted(edits, key=lambda edit: -edit[0].start):
            draft = draft.replaced(place.start, place.end, text, NAME)
        if edits:
            account = self._account(line, draft)
        first = self.target.notation is not None and self.target.notation.decimal == "."
        measured = units_kept(line.text, draft, account.pairs, NAME)
        if measured is not draft:
            draft, account = measured, self._account(line, measured)
        paid = money_kept(line.text, draft, account.pairs, first, NAME)
        return (draft, account) if paid is draft else (paid, self._account(line, paid))

    def _account(self, line: Line, draft: Draft) -> Account:
        account = compared(line.text, draft.text, self.source, self.target)
        lost = tuple(units_lost(line.text, draft.text, account.pairs))
        return replace(account, missing=account.missing + lost) if lost else account

    def _next(self, best: _Attempt) -> Draft | Retry:
        """The next retry, or what is left to do without one."""
        line, number = best.line, best.number + 1
        if number <= len(CODES[:2]):
            lost = best.account.missing if number == 1 else ()
            spans = self._spans(line.text, lost or self.source.read(line.text))
            standing = masked(line.text, spans, CODES[number - 1], best.draft.text)
            if standing is not None and standing.meant:
                retried = replace(line, text=standing.text)
                then = partial(self._taken, replace(best, number=number), standing, spans)
                return Retry(retried, then)
        best = self._swapped(best)
        if not 0 < len(best.account.missing) <= _MOST_PLACED:
            return _warned(best)
        return self._placing(best)

    def _taken(
        self, best: _Attempt, standing: Masked, spans: Sequence[Span], answer: Draft | None
    ) -> Draft | Retry:
        """The better of the best draft and an answer, if that has all; or the next retry."""
        meant = tuple((word, self._run_written(text)) for word, text in standing.meant)
        restored = None if answer is None else replace(standing, meant=meant).restored(answer, NAME)
        if restored is not None:
            hidden = tuple(LinePart(start, end, False) for start, end in spans)
            restored = as_of(best.line, restored, hidden, standing, self.tokenizers.source)
            restored, account = self._spelled(best.line, restored)
            if account.faults < best.account.faults:
                best = replace(best, draft=restored, account=account)
        return self._next(best) if best.account.faults else best.draft

    def _swapped(self, best: _Attempt) -> _Attempt:
        """With the one number that is lost in the place of the one that was made up."""
        account = best.account
        if len(account.missing) != 1 or len(account.spare) != 1:
            return best
        [place], [number] = account.spare, account.missing
        draft = best.draft.replaced(place.start, place.end, self._written(number), NAME)
        after = self._account(best.line, draft)
        better = after.faults < account.faults
        return replace(best, draft=draft, account=after) if better else best

    def _placing(self, best: _Attempt) -> Retry:
        """A retry without the numbers that are lost, which are then put into it."""
        line = best.line.text
        spans = self._spans(line, best.account.missing)
        text, behind = "", 0
        loose: list[Loose] = []
        for start, end in spans:
            text += line[behind:start]
            loose.append(Loose(f"{self._run_written(line[start:end])} ", len(text), len(text) + 1))
            behind = end + line[end : end + 1].isspace()
        text += line[behind:]
        hidden = tuple(LinePart(start, end, False) for start, end in spans)
        retried = replace(best.line, text=text, traits=best.line.traits | {"alignment"})

        def then(answer: Draft | None) -> Draft:
            draft = placed(answer or Draft(""), text, loose, self.tokenizers, NAME)
            source = self.tokenizers.source
            draft = as_of(best.line, draft, hidden, Masked(text, ()), source)
            draft, account = self._spelled(best.line, draft)
            if account.faults < best.account.faults:
                return _warned(replace(best, draft=draft, account=account))
            return _warned(best)

        return Retry(retried, then)

    def _spans(self, line: str, numbers: Iterable[Number]) -> list[Span]:
        return sorted({run_of(line, number) for number in numbers if number.certain})

    def _written(self, number: Number) -> str:
        """A number of the line in figures of the target language."""
        if number.kind == "measure":
            return self._run_written(number.text)
        if number.kind == "words":
            return str(next(iter(number.values)))
        return in_notation(number.text, self.source.notation, self.target.notation)

    def _run_written(self, text: str) -> str:
        """The same for a date, time or range; number words become figures."""
        numbers = [number for number in self.source.read(text) if number.kind != "roman"]
        for number in reversed(numbers):
            if not number.date:
                text = text[: number.start] + self._written(number) + text[number.end :]
        return text


def _alike(number: Number, other: Number) -> bool:
    """Whether a number was nearly kept: as many digits, most of them in their place."""
    if number.kind != "figures" or number.scaled != other.scaled:
        return False
    ours, theirs = ([c for c in each.text if c.isdigit()] for each in (number, other))
    same = sum(a == b for a, b in zip(ours, theirs, strict=False))
    return len(ours) == len(theirs) >= _SHORTEST and same >= _LIKE * len(ours)


def _warned(best: _Attempt) -> Draft:
    missing = [f"the number {number.text} is missing" for number in best.account.missing]
    strange = [f"the source has no number {number.text}" for number in best.account.strange]
    return best.draft.warned(*missing, *strange)
