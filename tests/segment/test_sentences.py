"""Splitting long text: boundaries, sizes, nothing lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.segment.sentences import join, split


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("One two. Three four.", 10, ["One two. Three four."]),  # short enough
        ("One two. Three four.", 3, ["One two.", "Three four."]),
        ("He said “No.” Then he left!", 4, ["He said “No.”", "Then he left!"]),
        ("It costs 3.5 euros, e.g. today.", 4, ["It costs 3.5 euros,", "e.g. today."]),
        ("a b c; d e f", 4, ["a b c;", "d e f"]),
        ("a b c d e f g", 3, ["a b c", "d e f", "g"]),
        ("Là. Été ici. Über uns.", 2, ["Là.", "Été ici.", "Über uns."]),
    ],
)
def test_cuts(text: str, limit: int, expected: list[str]) -> None:
    assert split(text, words, limit) == expected


def test_scripts_without_spaces() -> None:
    assert split("你好。再见！走吧", len, 4) == ["你好。", "再见！", "走吧"]
    assert join(["你好。", "", "走吧"], "zh") == "你好。走吧"
    assert join(["Hello.", "", "Go"], "en") == "Hello. Go"


@given(st.text(alphabet="ab .,;。!\n漢", max_size=200), st.integers(1, 20))
def test_nothing_is_lost_and_all_parts_fit(text: str, limit: int) -> None:
    parts = split(text, len, limit)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(len(part) <= limit for part in parts)
