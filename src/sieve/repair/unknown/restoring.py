"""Original characters back into a translation of what was read instead of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sieve.repair.draft import Draft, Span
from sieve.repair.unknown.folding import Respelled
from sieve.repair.unknown.line_reading import Reading

STEP = "unknown letters"
"""Name of the step, in edits."""
Change = tuple[Span, str]
"""A place of the model's text, and what belongs there."""
_CODE = re.compile(r"([A-Z]{3}) ")


@dataclass(frozen=True)
class Target:
    """A translation as the model wrote it, and where its pieces came from."""

    text: str
    groups: Sequence[int]
    """Of the source, for each piece."""
    ends: Sequence[int]
    """Of each piece, in characters."""

    def word_of(self, group: int, read: str) -> Span | None:
        """The last word that came from a group of the source; marks where that has no word."""
        pattern = r"\w+" if any(map(str.isalnum, read)) else r"[^\w\s]+"
        pieces = [piece for piece, origin in enumerate(self.groups) if origin == group]
        for piece in reversed(pieces):
            start = self.ends[piece - 1] if piece else 0
            for match in re.finditer(pattern, self.text):
                if match.start() < self.ends[piece] and match.end() > start:
                    return match.span()
        return None


def changed(draft: Draft, changes: Sequence[Change]) -> Draft:
    """A model's own text with changes; of those that overlap the first."""
    taken: list[Change] = []
    for span, text in changes:
        if not any(span[0] < end and start < span[1] for (start, end), _ in taken):
            taken.append((span, text))
    ordered = sorted(enumerate(taken), key=lambda item: (item[1][0], item[0]), reverse=True)
    for _, ((start, end), text) in ordered:
        draft = draft.replaced(start, end, text, STEP)
    return draft


def restoring_changes(target: Target, reading: Reading) -> Iterator[Change]:
    """What gives a translation the characters of its source."""
    alike: dict[str, list[tuple[int, Respelled]]] = {}
    for number, group in enumerate(reading.groups):
        for folded in group.folded:
            if folded.read.strip():
                alike.setdefault(folded.read.strip(), []).append((number, folded))
            else:
                yield _behind(target, reading, number, folded)
    for read, places in alike.items():
        spans = _spans(read, places, target.text, reading.text)
        yield from spans
        number, folded = places[0]
        if not spans and folded.stands_in:
            word = target.word_of(number, folded.read)
            yield (word, folded.text) if word else _behind(target, reading, number, folded)


def _spans(
    read: str, places: Sequence[tuple[int, Respelled]], translation: str, line: str
) -> list[Change]:
    """Where a translation has what was read, if it can be nothing else."""
    originals = [folded.text for _, folded in places]
    for text, meant in ((read, originals), *_money(read, originals)):
        pattern = _pattern(text)
        spans = [match.span() for match in pattern.finditer(translation)]
        if not spans or len(pattern.findall(line)) != len(places):
            continue
        if len(spans) == len(meant):
            return list(zip(spans, meant, strict=True))
        if len(set(meant)) == 1:
            return [(span, meant[0]) for span in spans]
    return []


def _money(read: str, originals: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The code of a currency alone, where the number behind it was written in another way."""
    code = _CODE.match(read)
    return [(code[1], [text[0] for text in originals])] if code else []


def _pattern(text: str) -> re.Pattern[str]:
    """Finds a text as a whole; marks stand alone, quotation marks anywhere."""
    if any(map(str.isalnum, text)):
        return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
    return re.compile(re.escape(text) if text == '"' else rf"(?<!\S){re.escape(text)}(?!\S)")


def _behind(target: Target, reading: Reading, number: int, folded: Respelled) -> Change:
    """Behind the word that the text before it became; at the beginning where there is none."""
    inside = reading.groups[number]
    earlier = number if inside.read.strip() and inside.start < folded.start else number - 1
    for group in range(earlier, -1, -1):
        word = target.word_of(group, reading.groups[group].read)
        if word is not None:
            before = reading.groups[group].text if group != number else ""
            closed = before[-1:] and not before[-1].isalnum()
            rest = re.compile(r"\S*").match(target.text, word[1])
            end = rest.end() if closed and rest else word[1]
            return (end, end), f" {folded.text}"
    return (0, 0), f"{folded.text} "
