"""A translation over the cues of its source: in proportion, at sensible breaks, tags closed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sieve.documents.texts.wrapping import balanced, units, width

_WIDTH = 42
"""Columns that a line may have, whatever the source's lines have."""
_TAG = re.compile(r"<(/?)([a-zA-Z]+)[^<>]*>")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_PAUSE = re.compile(r"[,;:–—，、；：][\"'”’»)\]]*$")


def divided(
    sources: Sequence[Sequence[str]], between: Sequence[str], newline: str
) -> Callable[[str], str]:
    """What puts a translation in the place of its source.

    Args:
        sources: The lines of each cue.
        between: What stands between the cues.
        newline: Of the file.
    """
    shares = [max(1, width("".join(lines))) for lines in sources]
    widths = [max(_WIDTH, *(width(line.strip()) for line in lines)) for lines in sources]

    def write(text: str) -> str:
        out = ""
        pieces = _closed(split(text.strip(), shares))
        for piece, most, lead in zip(pieces, widths, ("", *between), strict=True):
            out += lead + newline.join(balanced(piece, most))
        return out

    return write


def split(text: str, shares: Sequence[int]) -> list[str]:
    """A text in as many pieces as there are shares, each about as large as its share.

    A text of fewer words than shares is shown longer: its last word is repeated.
    """
    pieces = units(text)
    if len(pieces) < len(shares):
        pieces += [pieces[-1]] * (len(shares) - len(pieces)) if pieces else [text] * len(shares)
    ends = [0]
    for piece in pieces:
        ends.append(ends[-1] + width(piece))
    scale = ends[-1] / sum(shares)
    out, begin, passed = [], 0, 0
    for number, share in enumerate(shares[:-1]):
        passed += share
        last = len(pieces) - (len(shares) - number - 1)
        costs = {
            place: abs(ends[place] - passed * scale) - _worth(pieces[place - 1]) * share * scale
            for place in range(begin + 1, last + 1)
        }
        place = min(costs, key=lambda place: costs[place])
        out.append("".join(pieces[begin:place]).strip())
        begin = place
    return [*out, "".join(pieces[begin:]).strip()]


def _worth(piece: str) -> float:
    """How good a break after a piece is."""
    shown = re.sub(r"<[^<>]*>", "", piece)
    if _SENTENCE_END.search(shown):
        return 0.5
    return 0.3 if _PAUSE.search(shown) else 0.0


def _closed(pieces: Sequence[str]) -> list[str]:
    """Pieces with tags that are open at an end closed there and opened again in the next."""
    out: list[str] = []
    waiting: list[tuple[str, str]] = []  # name, tag
    for number, piece in enumerate(pieces):
        text = "".join(tag for _, tag in waiting) + piece
        for match in _TAG.finditer(piece):
            if not match[1]:
                waiting.append((match[2], match[0]))
            elif waiting and waiting[-1][0] == match[2]:
                waiting.pop()
        if number < len(pieces) - 1:
            text += "".join(f"</{name}>" for name, _ in reversed(waiting))
        out.append(text)
    return out
