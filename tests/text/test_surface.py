"""Lines that a model is spared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.text.surface import look_at


@pytest.mark.parametrize("line", ["!!! ??? ---", "😀", "12345", "", "Привет мир", "你好", "+49 30"])
def test_nothing_to_translate(line: str) -> None:
    assert not look_at(line, "en").translatable


@pytest.mark.parametrize("line", ["Hi", "a", "Schrödinger's Привет cat", "C3PO", "naïve café"])
def test_something_to_translate(line: str) -> None:
    surface = look_at(line, "en")
    assert surface.translatable
    assert surface.text == line
    assert surface.finish("Außen") == "Außen"


def test_scripts_follow_the_language() -> None:
    assert look_at("Привет", "ru").translatable
    assert not look_at("Hello", "ru").translatable
    assert look_at("Привет", "tlh").translatable  # no idea how Klingons write
    assert look_at("123", "").translatable


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("I LOVE YOU", "I love you"),
        ("'STOP IT'", "'Stop it'"),
        ("WRITE TO INFO@A.ORG AT 10AM", "Write to INFO@A.ORG at 10AM"),
    ],
)
def test_capitals(line: str, text: str) -> None:
    surface = look_at(line, "en")
    assert surface.text == text
    assert surface.finish("an info@b.de groß") == "AN INFO@B.DE GROSS"


@pytest.mark.parametrize("line", ["USA", "I LOVE you", "Nato", "OK"])
def test_not_shouted(line: str) -> None:
    assert look_at(line, "en").text == line


@given(st.text(max_size=60), st.sampled_from(["en", "de", "ru", ""]))
def test_any_text(line: str, language: str) -> None:
    surface = look_at(line, language)
    assert surface.line == line
    assert len(surface.text.split()) == len(line.split())


def test_what_is_in_the_line_stays_as_it_is() -> None:
    assert look_at("SEE www.a.org/x NOW", "en").text == "SEE www.a.org/x NOW"  # not all capitals
    assert look_at("SEE 4B/7 AND GO", "en").finish("geh zu 4B/7") == "GEH ZU 4B/7"
