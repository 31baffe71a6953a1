"""Source positions of a translation whose line was read with stand-ins, as those of the line."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from sieve.repair.draft import Draft
from sieve.repair.masks.patterns import LinePart
from sieve.repair.masks.placing import piece_ends
from sieve.repair.stand_ins import Masked
from sieve.repair.step import Line
from sieve.tokenize.tokenizer import Tokenizer


def as_of(
    line: Line, draft: Draft, of_line: Sequence[LinePart], read: Masked, source: Tokenizer
) -> Draft:
    """A translation with positions in the line's own pieces; with none if nobody asked for them.

    Args:
        line: As it was given.
        draft: What came of it.
        of_line: Its parts that the model did not see.
        read: What the model read instead.
        source: The tokenizer of both.
    """
    hypothesis = draft.hypothesis
    if hypothesis is None or not hypothesis.positions:
        return draft
    positions: tuple[int, ...] = ()
    if "alignment" in line.traits:
        theirs, ours = piece_ends(source, read.text), piece_ends(source, line.text)
        steps = _steps(line.text, of_line, read)
        places = [_moved(max(0, end - 1), steps) for end in theirs]
        pieces = [min(bisect_right(ours, place), len(ours) - 1) for place in places]
        pieces.append(len(ours))  # the end of the sentence
        positions = tuple(pieces[min(place, len(theirs))] for place in hypothesis.positions)
    return replace(draft, hypothesis=replace(hypothesis, positions=positions))


def _steps(line: str, of_line: Sequence[LinePart], read: Masked) -> list[tuple[int, int]]:
    """Places of what the model read from which on it is so many characters behind the line."""
    standing = {text: stand_in for stand_in, text in read.meant}
    steps, behind = [(0, 0)], 0
    for part in of_line:
        said = line[part.start : part.end]
        stand_in = standing.get(said, "")
        behind += len(said) - len(stand_in)
        steps.append((part.end - behind, behind))
    return steps


def _moved(place: int, steps: Sequence[tuple[int, int]]) -> int:
    return place + [behind for start, behind in steps if start <= place][-1]
