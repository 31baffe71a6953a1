"""Parts of a line that are not language, past any model."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_words import WHOLE_WORDS, Model, repaired

from sieve.repair.masks.masking import Masking
from sieve.repair.masks.patterns import parts

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


PIECES = ["{a}", "{0}", "%d", "%(x)s", "<b>", "</b>", "<Enter>", "🎉", "https://a.org/b", "$HOME",
          "`x y`", "東京", "&lt;", "word", "another", "5", ",", "Q7"]  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=8),
    st.sampled_from(["same", "reversed", "none", "lost", "twice"]),
)
def test_all_parts_come_out_whatever_the_model_does(words: list[str], way: str) -> None:
    line = " ".join(words)
    said = Counter(line[part.start : part.end] for part in parts(line, "LATIN"))

    def model(read: str) -> tuple[str, list[int]] | str | None:
        listed = read.split()
        order = [*range(len(listed))]
        answers: dict[str, tuple[str, list[int]] | str | None] = {
            "same": read,
            "reversed": (" ".join(reversed(listed)), order[::-1]),
            "none": "",
            "lost": "etwas",
            "twice": (f"{read} {read}", order + order),
        }
        return answers[way]

    text, _ = masked(line, model)
    for part, count in said.items():
        assert text.count(part) >= count
