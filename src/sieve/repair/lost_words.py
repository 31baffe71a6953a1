"""Names and dates that a translation lost: spelled as in the source, or asked for once more.

What is nearly right is put right in the text. Where a name or a date is gone, the line is
translated again with stand-ins (sieve.repair.stand_ins), and that translation is taken if they came
through. Texts change, nothing else: pieces, scores and sets stay those of the line as it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sieve.repair.dates import dates, lost_dates, put_dates_right
from sieve.repair.stand_ins import stand_ins

if TYPE_CHECKING:
    from sieve.repair.names import Names
    from sieve.translate.translation import Translation

    Found = list[list[Translation]]

ATTEMPTS = 2
"""How often a line is translated again, each time with other stand-ins."""


def with_lost_words(
    lines: Sequence[str], found: Found, names: Names, search: Callable[[list[str]], Found] | None
) -> Found:
    """Translations with the names and dates of their lines.

    Args:
        lines: Sentences.
        found: The translations of each, best first.
        names: What is known about names.
        search: Translates lines again; None where nothing may be asked for again.
    """
    found = [
        [replace(one, text=_spelled(line, one.text, names)) for one in some]
        for line, some in zip(lines, found, strict=True)
    ]
    lost = {}
    for row, (line, some) in enumerate(zip(lines, found, strict=True)):
        words = _lost(line, some[0].text, names) if search and some else set()
        if words:
            lost[row] = words
    for attempt in range(ATTEMPTS):
        made = {
            row: stand_ins(lines[row], _replaced(lines[row], words), found[row][0].text, attempt)
            for row, words in lost.items()
        }
        asked = {row: again for row, again in made.items() if again is not None}
        second = search([again.line for again in asked.values()]) if search and asked else []
        for (row, again), some in zip(asked.items(), second, strict=True):
            text = again.restored(some[0].text) if some else None
            if text is None:
                continue
            text = _spelled(lines[row], text, names)
            if _lost(lines[row], text, names) < lost[row]:  # some of them, and no others
                found[row] = [replace(found[row][0], text=text)]
                del lost[row]
    return found


def _spelled(line: str, translation: str, names: Names) -> str:
    return names.put_right(line, put_dates_right(line, translation))


def _lost(line: str, translation: str, names: Names) -> set[str]:
    return {*lost_dates(line, translation), *names.lost(line, translation)}


def _replaced(line: str, lost: set[str]) -> list[str]:
    """What stand-ins are for, in the order of the line: lost names, and all dates if one is."""
    every = dates(line)
    wanted = lost.union(every) if lost.intersection(every) else lost
    return sorted(wanted, key=lambda word: (line.find(word), word))
