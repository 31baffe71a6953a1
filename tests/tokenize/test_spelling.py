"""Words in pieces, with a real SentencePiece model and with words split by @@."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sieve.tokenize.sentence_piece import SentencePieceOptions, train_sentence_piece
from sieve.tokenize.spelling import Spelling, open_ids, pieces_of, spellings
from sieve.tokenize.vocabulary import OWN, UNK

TEXT = ["the house is in the greenhouse", "a house, the houses and housing (house)"] * 30
TOKENIZER = train_sentence_piece(SentencePieceOptions(vocab_size=362), TEXT)


class Joined:
    """Words split by @@: house is one piece, houses two."""

    pieces = ("<pad>", "<s>", "</s>", "<unk>", "house", "house@@", "s", "green@@")
    vocab_size = len(pieces)
    fingerprint = "joined"
    specials = OWN
    tags: frozenset[str] = frozenset()

    def normalize(self, text: str) -> str:
        return text

    def encode(self, lines: Sequence[str]) -> list[list[int]]:
        table = {"house": [4], "houses": [5, 6], "greenhouse": [7, 4]}
        return [[i for word in line.split() for i in table.get(word, [UNK])] for line in lines]

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        raise NotImplementedError

    def piece(self, index: int) -> str:
        return self.pieces[index]

    def piece_id(self, piece: str) -> int | None:
        return self.pieces.index(piece) if piece in self.pieces else None

    def save(self, directory: Path, stem: str) -> dict[str, Any]:
        raise NotImplementedError


def spell(ids: Sequence[int]) -> str:
    return "".join(map(TOKENIZER.piece, ids))


def test_pieces_with_and_without_space() -> None:
    ids = pieces_of(TOKENIZER, "house")
    assert set(TOKENIZER.encode(["house"])[0]) <= set(ids)
    inside = [i for i in ids if i not in TOKENIZER.encode(["house"])[0]]
    assert inside
    assert all(not TOKENIZER.piece(i).startswith("▁") for i in inside)


def test_spellings_of_sentence_piece() -> None:
    found = spellings(TOKENIZER, "house")
    assert found[0] == Spelling(tuple(TOKENIZER.encode(["house"])[0]), at_word_start=False)
    assert {spell(one.ids) for one in found if not one.at_word_start} == {"▁house"}
    assert {spell(one.ids) for one in found if one.at_word_start} == {"house"}
    assert len(set(found)) == len(found) > 4
    two = spellings(TOKENIZER, "the house")
    assert {spell(one.ids) for one in two if not one.at_word_start} == {"▁the▁house"}


def test_open_pieces() -> None:
    ids = open_ids(TOKENIZER)
    pieces = {TOKENIZER.piece(index) for index in ids}
    assert "e" in pieces
    assert not pieces & {"▁", ",", "(", "<0x41>"}


def test_joined_words() -> None:
    tokenizer = Joined()
    assert pieces_of(tokenizer, "houses") == (5, 6)
    assert spellings(tokenizer, "house") == [Spelling((4,), at_word_start=True)]
    assert spellings(tokenizer, "tree") == []
    assert open_ids(tokenizer) == (5, 7)
