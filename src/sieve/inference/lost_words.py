"""Names and dates that a translation lost: spelled as in the source, or asked for once more.

What is nearly right is put right in the text. Where a name or a date is gone, the line is
translated again with a stand-in for it (sieve.text.stand_ins), and the second translation is taken
if the stand-in came through. Texts change, nothing else: pieces, scores and sets stay those of the
line as it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sieve.text.stand_ins import StandIns, lost_dates, stand_ins

if TYPE_CHECKING:
    from sieve.inference.translation import Translation
    from sieve.text.names import Names

    Found = list[list[Translation]]


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
        [replace(one, text=names.put_right(line, one.text)) for one in some]
        for line, some in zip(lines, found, strict=True)
    ]
    asked: dict[int, StandIns] = {}
    for row, (line, some) in enumerate(zip(lines, found, strict=True)):
        if search and some:
            text = some[0].text
            again = stand_ins(line, [*lost_dates(line, text), *names.lost(line, text)])
            if again is not None:
                asked[row] = again
    second = search([again.line for again in asked.values()]) if search and asked else []
    for (row, again), some in zip(asked.items(), second, strict=True):
        restored = again.restored(some[0].text) if some else None
        if restored is not None:
            found[row] = [replace(found[row][0], text=restored)]
    return found
