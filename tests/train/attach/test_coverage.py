"""The order in which lines teach most."""

from hypothesis import given
from hypothesis import strategies as st

from sieve.train.attach.coverage import by_coverage


def test_by_hand() -> None:
    """Ranks: 0 (5 is new), 1 (5 was in row 0), 0 (7 is new), 1 (both were once), none."""
    assert by_coverage([[5, 5], [5], [7, 5], [7, 5], []]).tolist() == [0, 2, 1, 3, 4]


def test_nothing() -> None:
    assert by_coverage([]).tolist() == []
    assert by_coverage([[], []]).tolist() == [0, 1]


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=30), st.integers(1, 4))
def test_any_first_part_has_each_token_as_often_as_it_can(rows: list[list[int]], n: int) -> None:
    order = by_coverage(rows).tolist()
    needed = _needed_for(rows, n)
    assert sorted(order) == list(range(len(rows)))
    assert {*order[: len(needed)]} == needed


def _needed_for(rows: list[list[int]], n: int) -> set[int]:
    """Rows that are among the first n with one of their tokens."""
    return {
        place
        for place, row in enumerate(rows)
        if any(sum(token in other for other in rows[:place]) < n for token in row)
    }
