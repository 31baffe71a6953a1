"""Words that a model loses, and words that stand for them while it translates.

A small model drops a name it never saw, or garbles a date. The same sentence with a familiar name
or a year in that place it translates well, and there the lost word can be put back, since it is
written the same in both languages.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sieve.repair.rules import english, german

_NAMES = ("Peter", "Maria", "Berlin", "Thomas", "London", "Anna", "Smith")
_YEARS = ("2015", "2012", "2016", "2013")
_SAYS_YEAR = re.compile(rf"\b(?:{german.YEAR}|{english.YEAR})\W+\d{{4}}", re.I)


@dataclass(frozen=True)
class StandIns:
    """A line with stand-ins, and what each of them stands for."""

    line: str
    meant: Mapping[str, str]

    def restored(self, translation: str) -> str | None:
        """A translation of the line with the words meant.

        None where a stand-in got lost, too, or where a date has become a year in words.
        """
        if _SAYS_YEAR.search(translation) and not _SAYS_YEAR.search(self.line):
            return None
        for stand_in in self.meant:
            there, here = (len(_whole(stand_in).findall(x)) for x in (translation, self.line))
            if there != here:
                return None
        return _any_of(self.meant).sub(lambda match: self.meant[match[0]], translation)


def stand_ins(line: str, lost: Iterable[str], avoid: str = "", skipped: int = 0) -> StandIns | None:
    """A stand-in for each lost word of a line; None where there are not enough.

    Args:
        line: As it was given.
        lost: Words of it, names or dates.
        avoid: Text whose words are no stand-ins, either.
        skipped: How many of the possible stand-ins are not used.
    """
    free = {
        kind: iter([word for word in words if word not in f"{line} {avoid}"][skipped:])
        for kind, words in ((False, _NAMES), (True, _YEARS))
    }
    chosen = {word: next(free[word[0].isdigit()], None) for word in lost}
    if not chosen or None in chosen.values():
        return None
    text = _any_of(chosen).sub(lambda match: str(chosen[match[0]]), line)
    return StandIns(text, {str(stand_in): word for word, stand_in in chosen.items()})


def _whole(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
