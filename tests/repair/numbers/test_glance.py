"""Numbers that need no close look."""

import pytest

from sieve.repair.numbers.glance import right_at_a_glance


@pytest.mark.parametrize(
    ("line", "translation"),
    [("a house", "ein Haus"), ("7 of 12 in 2019", "2019 waren es 7 von 12"), ("won 3-1", "3-1")],
)
def test_right(line: str, translation: str) -> None:
    assert right_at_a_glance(line, translation)


@pytest.mark.parametrize(
    ("line", "translation"),
    [
        ("7 cats", "Katzen"),
        ("cats", "7 Katzen"),
        ("7 and 7", "7"),
        ("1,234", "1,234"),
        ("5 mg", "5 mg"),
        ("$5", "5"),
        ("at 3 pm", "um 3"),
        ("380 000", "380 000"),
        ("Part XII", "Teil XI"),
    ],
)
def test_to_look_at(line: str, translation: str) -> None:
    assert not right_at_a_glance(line, translation)
