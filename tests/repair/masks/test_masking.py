"""Parts of a line that are not language, past any model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_words import FAULTS, WHOLE_WORDS, Fault, Model, faulty, repaired

from sieve.repair.masks.masking import Masking
from sieve.repair.masks.patterns import parts
from sieve.repair.stand_ins import CODES

STEP = Masking("LATIN", WHOLE_WORDS)


def masked(line: str, model: Model) -> tuple[str, list[str]]:
    draft, asked = repaired(line, [STEP], model)
    return draft.text, asked


def test_stand_ins_are_read_and_replaced() -> None:
    text, asked = masked("Hello {name}, press <Enter>", lambda line: line.replace("Hello", "Hallo"))
    assert asked == ["Hello Q7, press Q8"]
    assert text == "Hallo {name}, press <Enter>"


def test_other_stand_ins_where_one_is_lost() -> None:
    text, asked = masked("Hello {a}", lambda line: "Hallo B12" if "B12" in line else "Hallo")
    assert (text, asked) == ("Hallo {a}", ["Hello Q7", "Hello B12"])


def test_placed_where_none_comes_through() -> None:
    line = "Press {a} to go"
    text, asked = masked(line, lambda read: ("geh Drücken", [2, 0]))
    assert asked == ["Press Q7 to go", "Press B12 to go", "Press X1 to go", "Press to go"]
    assert text == "geh Drücken {a}"


def test_tags_and_emoji_are_placed_at_once() -> None:
    text, asked = masked("<b>Save</b> it ❤️ now", lambda line: ("jetzt es sichern", [2, 1, 0]))
    assert (text, asked) == ("jetzt es ❤️ <b>sichern</b>", ["Save it now"])


def test_signs_in_pairs_are_placed_like_tags() -> None:
    text, asked = masked("2 ** 3 of **Save** it **now**", lambda line: (line.upper(), [*range(6)]))
    assert asked == ["2 3 of Save it now"]
    assert text == "2 ** 3 OF **SAVE** IT **NOW**"


@pytest.mark.parametrize("line", ["https://a.org", "{a} - {b}", "🎉", "東京 5"])
def test_nothing_else_in_the_line(line: str) -> None:
    assert masked(line, lambda _: "x") == (line, [])


@pytest.mark.parametrize("line", ["🎉 Well done!", "Well done! 🎉", "{x}: done", "done 東京 🎉"])
def test_ends_stay(line: str) -> None:
    text, _ = masked(line, lambda read: read)
    assert text == line


def test_a_given_beginning_with_a_part_is_left() -> None:
    draft, asked = repaired("Hi {a}", [STEP], lambda line: line, prefix="{a}")
    assert (draft.text, asked) == ("Hi {a}", ["Hi {a}"])


def test_positions_are_the_line_s() -> None:
    line = "see a {x y z} there"  # pieces: see a {x y z} there
    draft, _ = repaired(line, [STEP], lambda read: ("dort Q7 siehe", [3, 2, 0]), "alignment")
    assert draft.text == "dort {x y z} siehe"
    assert draft.hypothesis is not None
    assert draft.hypothesis.positions == (5, 2, 0)
    unasked, _ = repaired(line, [STEP], lambda read: ("dort Q7 siehe", [3, 2, 0]))
    assert unasked.hypothesis is not None
    assert unasked.hypothesis.positions == ()


# fmt: off
PIECES = [
    "{a}", "{0}", "%d", "%(x)s", "<b>", "</b>", "<Enter>", "🎉", "https://a.org/b", "$HOME",
    "`x y`", "東京", "&lt;", "[b]", "[/b]", "a.b@c.de", "src/x_1.rs", "word", "another", "5", ",",
]
# fmt: on
WATCHED = ["B2B", "getName", "C-131/12", "BH.PHP.001", "YouTube", "≥"]


@given(st.lists(st.sampled_from(PIECES + WATCHED), min_size=1, max_size=9), FAULTS)
def test_all_parts_come_out_as_often_as_they_went_in(
    words: list[str], faults: list[Fault | None]
) -> None:
    line = " ".join(words)
    text, asked = masked(line, faulty(faults))
    for part in parts(line, "LATIN"):
        said = line[part.start : part.end]
        assert text.count(said) == line.count(said)
    for word in set(WATCHED).intersection(words):
        assert text.count(word) >= line.count(word)
    assert len(asked) <= 1 + 2 * (len(CODES) + 1)


@pytest.mark.parametrize("text", ["<br><br>", "&nbsp;&nbsp;", "</i></b>", "🎉<b>"])
def test_what_touches_still_does(text: str) -> None:
    assert masked(f"geh {text} weg", lambda read: (read, [0, 1]))[0] == f"geh {text} weg"


def test_a_code_that_the_model_altered_is_asked_for_again() -> None:
    text, asked = masked("see BH.PHP.001 here", lambda line: line.replace("PHP", "PHPHP"))
    assert asked == ["see BH.PHP.001 here", "see Q7 here"]
    assert text == "see BH.PHP.001 here"


def test_a_code_that_the_model_copies_is_not_asked_for_again() -> None:
    text, asked = masked("see B2B and getNames here", lambda line: line.replace("Names", "Name"))
    assert (text, len(asked)) == ("see B2B and getName here", 1)
