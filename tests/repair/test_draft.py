"""Drafts: what was changed, and where it went."""

import re

from hypothesis import given
from hypothesis import strategies as st

from sieve.repair.draft import Draft, Edit, carried


def test_edits_count_in_the_text_before_them() -> None:
    draft = Draft("on the 3rd").replaced(0, 2, "until", "a").replaced(10, 13, "4th", "b")
    assert draft.text == "until the 4th"
    assert draft.edits == (Edit(0, 2, "until", "a"), Edit(10, 13, "4th", "b"))
    assert draft.replaced(0, 5, "until", "c") is draft
    # on, the and 3rd are until, the and 4th
    assert carried([(0, 2), (3, 6), (7, 10)], draft.edits) == [(0, 5), (6, 9), (10, 13)]


def test_spans_that_end_inside_an_edit() -> None:
    [edit] = Draft("abcdef").replaced(2, 5, "xy", "a").edits
    assert carried([(0, 3), (3, 4), (4, 6)], [edit]) == [(0, 3), (3, 4), (4, 5)]


def test_what_is_put_at_the_ends_belongs_to_no_span() -> None:
    draft = Draft("ab").replaced(2, 2, "!", "a").replaced(0, 0, "> ", "a")
    assert draft.text == "> ab!"
    assert carried([(0, 1), (1, 2)], draft.edits) == [(2, 3), (3, 4)]


@given(st.text("ab ", max_size=20), st.text("xy", max_size=3))
def test_as_re_sub(text: str, new: str) -> None:
    pattern = re.compile("a+")
    draft = Draft(text).substituted(pattern, lambda _: new, "a")
    assert draft.text == pattern.sub(new, text)
    kept = [match.span() for match in re.finditer("[^a]", text)]
    for (a, b), (c, d) in zip(kept, carried(kept, draft.edits), strict=True):
        assert text[a:b] == draft.text[c:d]
