from collections.abc import Sequence

import pytest

from sieve.tokenize.vocabulary import EOS, OWN
from sieve.tokenize.words import END, word_spans, word_texts


class Pieces:
    """A tokenizer of given pieces."""

    specials = OWN
    tags: frozenset[str] = frozenset()

    def __init__(self, *pieces: str) -> None:
        self.pieces = ["<pad>", "<s>", "</s>", "<unk>", "▁", *pieces]
        if any(piece.endswith("@@") for piece in pieces):
            self.pieces[4] = "-"

    def piece(self, index: int) -> str:
        return self.pieces[index]

    def piece_id(self, piece: str) -> int | None:
        return self.pieces.index(piece) if piece in self.pieces else None

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        return [
            "".join(self.pieces[i] for i in ids if i > EOS).replace("▁", " ").replace("@@", "")
            for ids in sentences
        ]


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (["▁to", "▁swal", "low"], ["to", "swallow"]),
        (["▁home", "!", '"'], ["home", '!"']),
        (["▁don", "'", "t"], ["don", "'", "t"]),
        (["▁", "Ω", "x", "▁y"], ["Ωx", "y"]),
        (["▁(", "a", ")"], ["(", "a", ")"]),
        (["swal@@", "low", "!"], ["swallow", "!"]),
        ([], []),
    ],
)
def test_words(pieces: list[str], words: list[str]) -> None:
    tokenizer = Pieces(*(piece for piece in pieces if piece != "▁"))
    ids = [tokenizer.piece_id(piece) or 0 for piece in pieces]
    assert word_texts(tokenizer, [*ids, EOS]) == [*words, END]  # type: ignore[arg-type]
    spans = word_spans(tokenizer, [*ids, EOS])  # type: ignore[arg-type]
    assert [place for span in spans for place in span] == list(range(len(ids) + 1))
