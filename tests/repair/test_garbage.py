"""Texts that are no translation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_words import repaired

from sieve.repair.draft import Draft
from sieve.repair.garbage import Garbage, repeats
from sieve.repair.step import Line, Retry

STEP = Garbage(("en", "de"), "LATIN")
LINE = "Press the key to go on"


@pytest.mark.parametrize(
    ("bad", "cut", "warning"),
    [
        ("Press Press Press Press Press an", "Press an", "the translation repeats itself"),
        ("an der an der an der an der Tür", "an der Tür", "the translation repeats itself"),
        ("Taste\ufffd\ufffd weiter", "Taste weiter",
         "the translation has characters that the model could not write"),
        ("", "", "the translation is empty"),
        ("Нажмите клавишу", "Нажмите клавишу", "the translation is in another script"),
    ],
)  # fmt: skip
def test_asked_again_and_else_cut_with_a_warning(bad: str, cut: str, warning: str) -> None:
    draft, asked = repaired(LINE, [STEP], lambda _: bad)
    assert asked == [LINE, LINE]
    assert (draft.text, draft.warnings) == (cut, (warning,))
    answers = iter([bad, "Weiter mit der Taste"])
    draft, _ = repaired(LINE, [STEP], lambda _: next(answers))
    assert (draft.text, draft.warnings) == ("Weiter mit der Taste", ())


def test_a_syllable_is_cut_at_once() -> None:
    draft, asked = repaired(LINE, [STEP], lambda _: "Creatinininininin ist")
    assert (draft.text, len(asked)) == ("Creatin ist", 1)
    assert draft.warnings == ("the translation repeats itself",)


def test_the_second_time_is_thorough_and_the_third_without_signs() -> None:
    line = Line("Press | the = key")
    first = STEP.after(line, Draft(""), None)
    assert isinstance(first, Retry)
    assert first.line == Line("Press | the = key", thorough=True)
    second = first.then(None)
    assert isinstance(second, Retry)
    assert second.line == Line("Press the key", thorough=True)
    assert second.then(Draft("Taste")) == Draft("Taste")


def test_a_copy() -> None:
    line = "the house is a very old one"
    draft, asked = repaired(line, [STEP], lambda read: read)
    assert (draft.text, draft.warnings) == (line, ("the translation is the source itself",))
    assert len(asked) == 2
    for fine in ("Angela Merkel, Getty Images", "house"):
        assert repaired(fine, [STEP], lambda read: read)[0].warnings == ()
    same = Garbage(("en", "en"), "LATIN")
    assert repaired(line, [same], lambda read: read)[0].warnings == ()


def test_what_repeats_in_the_line_may_repeat() -> None:
    draft, asked = repaired("ha ha ha ha ha", [STEP], lambda _: "ho ho ho ho ho")
    assert (draft.text, len(asked)) == ("ho ho ho ho ho", 1)


def test_length_is_bounded() -> None:
    draft, _ = repaired("a b", [STEP], lambda _: " ".join(map(str, range(500))))
    assert len(draft.text) == 67  # 2.5 times 3, and 60
    assert draft.warnings == ("the translation is far longer than its source",)


@pytest.mark.parametrize("trait", ["n-best", "prefix", "samples"])
def test_not_where_anything_may_come(trait: str) -> None:
    draft, asked = repaired(LINE, [STEP], lambda _: "", trait)  # type: ignore[arg-type]
    assert (draft.text, len(asked), draft.warnings) == ("", 1, ())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "no no no",
        "sie sie die die",
        "Mississippi",
        "der der, der der",
        "1 1 1",
        "hahaha"[:4],
    ],
)
def test_no_loop(text: str) -> None:
    assert not repeats(text)


@given(st.text("ab x", max_size=300))
def test_what_is_given_is_bounded_and_no_loop(text: str) -> None:
    draft, _ = repaired(LINE, [STEP], lambda _: text)
    assert len(draft.text) <= 2.5 * len(LINE) + 60
    if not draft.warnings:
        assert not repeats(draft.text)
