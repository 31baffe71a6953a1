"""Which pieces of a sentence make up a word."""

from collections.abc import Sequence

from sieve.tokenize.tokenizer import Tokenizer

_SPACE = "▁"
_JOIN = "@@"
END = "‹end›"
"""How the end of a sentence is written where it stands among words."""


def word_spans(tokenizer: Tokenizer, ids: Sequence[int]) -> list[range]:
    """Places of the pieces of each word; EOS and marks between words stand alone."""
    spaces, end = tokenizer.piece_id(_SPACE) is not None, tokenizer.specials.eos
    pieces = [tokenizer.piece(index) for index in ids]
    starts = []
    for place, (index, piece) in enumerate(zip(ids, pieces, strict=True)):
        before = pieces[place - 1] if place else ""
        if not before or end in (index, ids[place - 1]):
            opens = True
        elif spaces:
            opens = piece.startswith(_SPACE) or _is_mark(piece) != _is_mark(before)
            opens = opens and before != _SPACE  # a space alone belongs to what follows
        else:
            opens = not before.endswith(_JOIN)
        if opens:
            starts.append(place)
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(ids)], strict=True)]


def _is_mark(piece: str) -> bool:
    return not any(map(str.isalnum, piece))


def word_texts(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    """The words as text, `END` for the end."""
    texts, end = [], [tokenizer.specials.eos]
    for span in word_spans(tokenizer, ids):
        pieces = [ids[place] for place in span]
        text = tokenizer.decode([pieces])[0].strip()
        texts.append(END if pieces == end else text or "".join(map(tokenizer.piece, pieces)))
    return texts
