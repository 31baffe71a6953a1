"""Texts into sentences and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.segment.layout import laid_out


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", ()),
        ("  \n\n", ()),
        ("one two", ("one two",)),
        ("  one \n\n\ttwo\r\n", ("one", "two")),
        ("12.5\n---\n🙂", ()),
        ("One two three. Four five six.", ("One two three.", "Four five six.")),
        ("One.\u2028Two.", ("One.", "Two.")),
        ("One\t2\tTwo", ("One", "Two")),
    ],
)
def test_sentences(text: str, sentences: tuple[str, ...]) -> None:
    layout = laid_out(text, words, limit=4)
    assert layout.sentences == sentences


def test_what_is_between_stays() -> None:
    layout = laid_out("  one \n\n- 1 -\n\ttwo\r\n", words, limit=4)
    assert layout.filled(["EINS", "ZWEI"], "de") == "  EINS \n\n- 1 -\n\tZWEI\r\n"
    cut = laid_out(" One two three. Four five six.\n", words, limit=4)
    assert cut.filled(["A", "B"], "de") == " A B\n"
    assert cut.filled(["A", "B"], "ja") == " AB\n"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_nothing_is_lost(text: str) -> None:
    layout = laid_out(text, words, limit=1000)
    assert layout.filled(layout.sentences, "de") == text


@pytest.mark.parametrize("text", ["", "\n", "a\n\n  b. C d.\n12\n", "a", " \n x \n"])
def test_gaps_are_what_is_between_the_sentences(text: str) -> None:
    layout = laid_out(text, len, 4)
    gaps = [" " if gap is None else gap for gap in layout.gaps]
    assert len(gaps) == len(layout.sentences) + 1
    filled = "".join(map(str.__add__, gaps, (*layout.sentences, "")))
    assert filled == layout.filled(layout.sentences, "en")
