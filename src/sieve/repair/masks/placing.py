"""Texts that a model did not see, put into its translation where its alignment says.

A text has its place in the source between two words; in the translation it goes beside what one of
them became. Needs a translation made with positions; without one the texts follow it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from sieve.repair.draft import Draft, Span, carried
from sieve.tokenize.tokenizer import Tokenizer, Tokenizers

_NO_SPACE_BEFORE = ".,;:!?)]}»”’…"


@dataclass(frozen=True)
class Loose:
    """A text without a place in the translation yet."""

    text: str
    """With the spaces that belong to it."""
    at: int
    """Where it was in the line that the model read."""
    opens: int = 0
    """Where in that line what it opens ends; 0 for a text that follows the word before it."""
    closes: int = -1
    """Where in that line what it closes begins; -1 for nothing."""


def placed(
    draft: Draft, line: str, loose: Sequence[Loose], tokenizers: Tokenizers, step: str
) -> Draft:
    """A translation with texts in their places.

    Args:
        draft: What came of the line.
        line: What the model read.
        loose: What to put back, in the order of the line.
        tokenizers: The model's.
        step: Name for the edits.
    """
    words = _Words.of(draft, line, tokenizers)
    places = [words.place(text) for text in loose]
    order = sorted(range(len(loose)), key=lambda i: (places[i], i))
    for i in reversed(order):
        draft = _inserted(draft, places[i], loose[i], step)
    return draft


def _inserted(draft: Draft, at: int, loose: Loose, step: str) -> Draft:
    before, behind = draft.text[:at][-1:], draft.text[at : at + 1]
    text = loose.text.strip() or loose.text  # a separator may be all of it
    apart = " " if loose.text[:1].isspace() else ""
    grown = before.isalnum() and text[0].isalnum()
    if before and not before.isspace() and (apart or grown):
        text = f" {text}"
    followed = loose.text[-1:].isspace() and behind not in _NO_SPACE_BEFORE
    if behind and not behind.isspace() and (followed or (behind.isalnum() and text[-1].isalnum())):
        text += " "
    return draft.replaced(at, at, text, step)


@dataclass(frozen=True)
class _Words:
    """The pieces of both sides of a translation."""

    line: str
    text: str
    tokenizer: Tokenizer
    ends: list[int]
    """Where each source piece ends in the line as its tokenizer reads it."""
    links: list[tuple[int, Span]]
    """A source piece and the characters of the translation that came from it."""

    @classmethod
    def of(cls, draft: Draft, line: str, tokenizers: Tokenizers) -> "_Words":
        hypothesis, source = draft.hypothesis, tokenizers.source
        if hypothesis is None:
            return cls(line, draft.text, source, [], [])
        spans = carried(piece_spans(tokenizers.target, hypothesis.tokens), draft.edits)
        links = list(zip(hypothesis.positions, spans, strict=False))
        return cls(line, draft.text, source, piece_ends(source, line), links)

    def place(self, loose: Loose) -> int:
        """Where a text goes."""
        first, last = not self.line[: loose.at].strip(), not self.line[loose.at :].strip()
        if first and not (loose.opens and self.line[loose.opens :].strip()):
            return 0
        if last and not self.line[: max(0, loose.closes)].strip():
            return len(self.text)
        if not self.links:
            return 0 if first else len(self.text)
        here = self._piece(loose.at)
        if loose.opens:
            return self._before(here, max(here + 1, self._piece(loose.opens)))
        if loose.closes >= 0:
            return self._closing(self._piece(loose.closes), here)
        return self._behind(here - 1, here)

    def _piece(self, at: int) -> int:
        """The first source piece that begins at a place of the line or behind it."""
        read = len(self.tokenizer.normalize(self.line[:at]).rstrip())
        return bisect_right(self.ends, read - 1) + 1 if read else 0

    def _before(self, first: int, last: int) -> int:
        """The beginning of what came from some source pieces, or from those behind them."""
        inside = [span for piece, span in self.links if first <= piece < last]
        later = [span for piece, span in self.links if piece >= last]
        starts = [start for start, _ in inside or later]
        return self._word_start(min(starts, default=len(self.text)))

    def _closing(self, first: int, last: int) -> int:
        """The end of what came from some source pieces, or of the word that stands for them."""
        inside = [span for piece, span in self.links if first <= piece < last]
        if inside:
            return self._word_end(max(end for _, end in inside))
        at = self._before(first, max(first + 1, last))
        return self._word_end(min(at + 1, len(self.text)))

    def _behind(self, first: int, last: int) -> int:
        """The end of what came from some source pieces, or from the nearest before them."""
        inside = [span for piece, span in self.links if first <= piece < last]
        if not inside:
            nearest = max((piece for piece, _ in self.links if piece < last), default=-1)
            inside = [span for piece, span in self.links if piece == nearest]
        return self._word_end(max((end for _, end in inside), default=0))

    def _word_start(self, at: int) -> int:
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        while 0 < at < len(self.text) and self.text[at - 1].isalnum() and self.text[at].isalnum():
            at -= 1
        return at

    def _word_end(self, at: int) -> int:
        while 0 < at < len(self.text) and self.text[at].isalnum():
            at += 1
        while at > 0 and self.text[at - 1].isspace():
            at -= 1
        return at


def piece_ends(tokenizer: Tokenizer, text: str) -> list[int]:
    """Where each source piece ends in a text, as the tokenizer reads it."""
    [ids] = tokenizer.encode([text])
    return _ends(tokenizer, ids)


def piece_spans(tokenizer: Tokenizer, ids: Sequence[int]) -> list[Span]:
    """Where each piece of a translation is in its text."""
    ends = _ends(tokenizer, ids)
    return list(zip([0, *ends], ends, strict=False))


def _ends(tokenizer: Tokenizer, ids: Sequence[int]) -> list[int]:
    begun = tokenizer.decode([ids[:count] for count in range(1, len(ids) + 1)])
    # single bytes of a character are longer than the character that they become
    return [*accumulate(map(len, reversed(begun)), min)][::-1]
