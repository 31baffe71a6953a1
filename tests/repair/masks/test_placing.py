"""Texts that a model did not see, put where its alignment says."""

from collections.abc import Sequence

import pytest
from whole_words import WHOLE_WORDS, WORDS, WholeWords, written

from sieve.repair.draft import Draft
from sieve.repair.masks.placing import Loose, piece_ends, piece_spans, placed

LINE = "we love red roses"


def put(loose: list[Loose], text: str, positions: list[int]) -> str:
    return placed(written(text, positions), LINE, loose, WHOLE_WORDS, "step").text


@pytest.mark.parametrize(
    ("loose", "expected"),
    [
        ([Loose(" ❤", 7)], "rote Rosen lieben ❤ wir"),  # behind love
        ([Loose("{x} ", 0)], "{x} rote Rosen lieben wir"),
        ([Loose(" {x}", 17)], "rote Rosen lieben wir {x}"),
        ([Loose("5 ", 8, 9)], "5 rote Rosen lieben wir"),  # before red
        ([Loose("5 ", 12, 13)], "rote 5 Rosen lieben wir"),
        ([Loose("<b>", 8, 11), Loose("</b>", 11, 0, 8)], "<b>rote</b> Rosen lieben wir"),
        ([Loose("<b>", 8, 17), Loose("</b>", 17, 0, 8)], "<b>rote Rosen</b> lieben wir"),
        ([Loose(" a", 7), Loose(" b", 7)], "rote Rosen lieben a b wir"),
    ],
)
def test_beside_what_a_word_became(loose: list[Loose], expected: str) -> None:
    assert put(loose, "rote Rosen lieben wir", [2, 3, 1, 0]) == expected


def test_a_word_without_a_translation() -> None:
    tags = [Loose("<b>", 3, 7), Loose("</b>", 7, 0, 3)]  # around love
    assert put(tags, "wir Rosen", [0, 3]) == "wir <b>Rosen</b>"
    assert put([Loose(" ❤", 7)], "wir Rosen", [0, 3]) == "wir ❤ Rosen"


def test_without_positions_they_follow() -> None:
    loose = [Loose(" {x}", 7), Loose("{y}", 0)]
    assert placed(Draft(""), LINE, loose, WHOLE_WORDS, "step").text in (
        "{y} {x}",
        "{x}{y}",
        "{x} {y}",
    )
    assert placed(Draft("wir"), LINE, loose[:1], WHOLE_WORDS, "step").text == "wir {x}"


def test_edits_are_followed() -> None:
    draft = written("rote Rosen", [2, 3]).replaced(0, 4, "dunkelrote", "names")
    moved = placed(draft, LINE, [Loose(" ❤", 11)], WHOLE_WORDS, "step")
    assert moved.text == "dunkelrote ❤ Rosen"
    assert [edit.step for edit in moved.edits] == ["names", "step"]


def test_pieces() -> None:
    assert piece_ends(WORDS, "to be or") == [2, 5, 8]
    assert piece_spans(WORDS, WORDS.encode(["to be"])[0]) == [(0, 2), (2, 5)]


class Bytes(WholeWords):
    """Every byte a piece; what is no whole character yet shows as one mark per byte."""

    def encode(self, lines: Sequence[str]) -> list[list[int]]:
        return [list(line.encode()) for line in lines]

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        return [self._shown(bytes(ids)) for ids in sentences]

    def _shown(self, data: bytes) -> str:
        text = data.decode("utf-8", "ignore")
        return text + "\ufffd" * (len(data) - len(text.encode()))


def test_bytes_of_a_character_end_where_it_does() -> None:
    assert piece_ends(Bytes(), "a\u0e01b") == [1, 2, 2, 2, 3]
    cut = Bytes().encode(["a\u0e01\u0e01"])[0]
    assert piece_spans(Bytes(), cut)[-1] == (3, 3)
