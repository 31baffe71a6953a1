"""Lines that a model is spared."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_words import WHOLE_WORDS

from sieve.repair.draft import Draft, Edit
from sieve.repair.registry import repairs_for
from sieve.repair.step import Line, Step
from sieve.repair.surface import Untranslatable


@dataclass(frozen=True)
class Looked:
    """A line on its way through the steps that decide what a model reads."""

    passed: list[tuple[Step, Line, Any]]
    text: str

    def finish(self, translation: str) -> str:
        draft = Draft(translation)
        for step, line, state in reversed(self.passed):
            result = step.after(line, draft, state)
            assert isinstance(result, Draft)
            draft = result
        return draft.text


def look_at(text: str, language: str, plain: bool = False) -> Looked:
    line = Line(text, frozenset(["prefix"]) if plain else frozenset())
    passed: list[tuple[Step, Line, Any]] = []
    for step in repairs_for((language, "xx"), WHOLE_WORDS).surface or ():
        if line.text and step.unsuited.isdisjoint(line.traits):
            inner, state = step.before(line)
            passed.append((step, line, state))
            line = inner
    return Looked(passed, line.text)


@pytest.mark.parametrize("line", ["!!! ??? ---", "😀", "12345", "", "Привет мир", "你好", "+49 30"])
def test_nothing_to_translate(line: str) -> None:
    surface = look_at(line, "en")
    assert surface.text == ""
    assert surface.finish("") == line


@pytest.mark.parametrize("line", ["Hi", "a", "Schrödinger's Привет cat", "C3PO", "naïve café"])
def test_something_to_translate(line: str) -> None:
    surface = look_at(line, "en")
    assert surface.text == line
    assert surface.finish("Außen") == "Außen"


def test_a_line_that_was_kept_is_an_edit_of_nothing() -> None:
    step = Untranslatable("LATIN")
    line = Line("12345")
    _, state = step.before(line)
    draft = step.after(line, Draft(""), state)
    assert isinstance(draft, Draft)
    assert draft == Draft("12345", (Edit(0, 0, "12345", "untranslatable"),))


def test_scripts_follow_the_language() -> None:
    assert look_at("Привет", "ru").text == "Привет"
    assert look_at("Hello", "ru").text == ""
    assert look_at("Привет", "tlh").text == "Привет"  # no idea how Klingons write
    assert look_at("123", "").text == "123"


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


@given(st.text(max_size=60), st.sampled_from(["en", "de", "ru", "tlh", ""]))
def test_nothing_is_lost(line: str, language: str) -> None:
    surface = look_at(line, language)
    in_capitals = surface.finish("x") == surface.finish("X")
    if not in_capitals or not surface.text:
        assert surface.finish(surface.text) == line
    assert look_at(line, language, plain=True).text in ("", line)


def test_what_is_in_the_line_stays_as_it_is() -> None:
    assert look_at("SEE www.a.org/x NOW", "en").text == "SEE www.a.org/x NOW"  # not all capitals
    assert look_at("SEE 4B/7 AND GO", "en").finish("geh zu 4B/7") == "GEH ZU 4B/7"
