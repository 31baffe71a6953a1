"""Addresses, numbers and signs of money that a translation spells wrongly, put right again.

What is written the same in both languages can be checked against the source. A literal that is
missing in the translation takes the place of one there that the source does not have and that is
nearly the same: the same shape and mostly the same digits, or mostly the same letters. Where no
such place is found, nothing is changed.
"""

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from sieve.repair.draft import Draft
from sieve.repair.step import Line, Step

_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"'“”„]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.I)
_TRAILING = ".,;:!?)]}"
_NUMBER = re.compile(r"\d(?:[\d.,:\u00a0\u202f]*\d)?")
_SPACED = re.compile(r"(?<![\d.,:])\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?![\d:])")  # 12 500, as in French
_HALF_DAY = re.compile(r"\s*[ap]\.?m\b", re.I)  # 3:45 pm may become 15:45
_NAME = "literals"
_SIGNS = "€$£¥₽"
_LIKE = 0.6  # similarity of two addresses from which one is taken for the other
_NEARLY = 0.5  # the same for two numbers
_SWAP = str.maketrans(".,", ",.")
_SHORTEST = 3  # digits: shorter numbers may be words, hours, days


@dataclass(frozen=True)
class Literals(Step):
    """Gives a translation the source's literals, where they were nearly right."""

    def after(self, line: Line, draft: Draft, state: None) -> Draft:
        """Addresses, numbers and signs of money put right."""
        source = line.text
        if any(mark in source for mark in ("@", "://", "www.")):
            draft = _addresses(source, draft)
        if any(c.isdigit() for c in source):
            draft = _numbers(source, draft)
        if any(sign in source for sign in _SIGNS):
            draft = _money(source, draft)
        return draft


def _addresses(source: str, draft: Draft) -> Draft:
    for match in _ADDRESS.finditer(source):
        address = match[0].rstrip(_TRAILING)
        if address in draft.text:
            continue
        words = [word.strip("\"'“”„<>()[]").rstrip(_TRAILING) for word in draft.text.split()]
        strange = [word for word in words if word and word not in source]
        like = [(SequenceMatcher(None, address, word).ratio(), word) for word in strange]
        likeness, word = max(like, default=(0.0, ""))
        if likeness >= _LIKE:
            at = draft.text.index(word)
            draft = draft.replaced(at, at + len(word), address, _NAME)
    return draft


def _numbers(source: str, draft: Draft) -> Draft:
    said = _numbers_in(source, draft.text)
    ours = [m for m in said if not _HALF_DAY.match(source, m.end())]
    wanted = Counter(_digits(m[0]) for m in ours)
    written = [(m.start(), m[0]) for m in _numbers_in(draft.text, source)]
    missing = wanted - Counter(_digits(text) for _, text in written)
    known = {_digits(m[0]) for m in said}
    strange = [(at, text) for at, text in written if _digits(text) not in known]
    for digits in missing:
        if len(digits) < _SHORTEST:
            continue
        like = [(_likeness(digits, _digits(text)), at, text) for at, text in strange]
        best, at, text = max(like, default=(0.0, 0, ""))
        if best >= _NEARLY:
            literal = next(m[0] for m in ours if _digits(m[0]) == digits)
            spelled = _spelled(digits, literal, text)
            draft = draft.replaced(at, at + len(text), spelled, _NAME)
            shift = len(spelled) - len(text)
            strange = [(p + shift * (p > at), t) for p, t in strange if p != at]
    return draft


def _numbers_in(text: str, other: str) -> list[re.Match[str]]:
    """The numbers of a text; groups with spaces are one, unless the other side has each alone."""
    there = {_digits(m[0]) for m in _NUMBER.finditer(other)}
    spaced = [
        m
        for m in _SPACED.finditer(text)
        if _digits(m[0]) in there or not there.issuperset(map(_digits, m[0].split(" ")))
    ]
    within = {place for m in spaced for place in range(m.start(), m.end())}
    single = [m for m in _NUMBER.finditer(text) if m.start() not in within]
    return sorted([*spaced, *single], key=re.Match.start)


def _likeness(wanted: str, written: str) -> float:
    """Share of digits in their place; of numbers that differ in length, in their order."""
    if len(wanted) == len(written):
        return sum(a == b for a, b in zip(wanted, written, strict=True)) / len(wanted)
    return SequenceMatcher(None, wanted, written).ratio() if len(written) >= _SHORTEST else 0.0


def _spelled(digits: str, literal: str, written: str) -> str:
    """The digits in the form that the translation gave them, or in the source's own."""
    if len(digits) == len(_digits(written)):
        new = iter(digits)
        return "".join(next(new) if c.isdigit() else c for c in written)
    ours, theirs = ([c for c in text if c in ".,"][-1:] for text in (literal, written))
    return literal.translate(_SWAP) if ours and theirs and ours != theirs else literal


def _money(source: str, draft: Draft) -> Draft:
    """One sign of money in the source and another one in its place: the source's is meant."""
    ours = {sign for sign in _SIGNS if sign in source}
    theirs = {sign for sign in _SIGNS if sign in draft.text}
    if len(ours) != 1 or len(theirs) != 1 or ours == theirs:
        return draft
    wrong, right = re.compile(re.escape(theirs.pop())), ours.pop()
    return draft.substituted(wrong, lambda _: right, _NAME)


def _digits(number: str) -> str:
    return "".join(c for c in number if c.isdigit())
