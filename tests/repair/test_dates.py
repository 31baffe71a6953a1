"""Dates in digits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.repair.dates import dates, lost_dates
from sieve.repair.dates import put_dates_right as put_right
from sieve.repair.draft import Draft


def put_dates_right(source: str, translation: str) -> str:
    return put_right(source, Draft(translation)).text


LOST = [
    ("am 15.03.2024 um 14:30", "on 15.03.2024 at 14:30", []),
    ("am 15.03.2024.", "on 15,03-15.03.2024.", ["15.03.2024"]),
    ("am 01.02.2023", "on 01/01.02.2023", ["01.02.2023"]),
    ("on 12/31/2025", "am 31.12.2025", []),  # in German order
    ("on 3/15/24", "am 15.3.2024", []),  # the same year
    ("am 15.03.2024", "on March 15, 2024", []),
    ("am 15.03.2024", "on March 15", ["15.03.2024"]),
    ("on 12/31/2025", "am 12.31/2025", ["12/31/2025"]),
    ("2024-03-15", "am 15.3.2024", []),
    ("2024-03-15 and 2024-03-15", "gone", ["2024-03-15"]),
    ("1.2.2023, 3.4.2023", "am 1.2.2023", ["3.4.2023"]),
    ("01.02.2023-03.04.2023", "gone", ["01.02.2023", "03.04.2023"]),
    ("Version 1.2.3 and 10.0.0.1, tel. 030/12/45-67", "none of them", []),
    ("no date", "1.1.2001", []),
]


@pytest.mark.parametrize(("source", "translation", "expected"), LOST)
def test_lost(source: str, translation: str, expected: list[str]) -> None:
    assert lost_dates(source, translation) == expected


@pytest.mark.parametrize(
    ("source", "written", "expected"),
    [
        ("on 12/31/2025.", "am 12.31/2025.", "am 12/31/2025."),
        ("am 15.03.2024.", "on 15,03-15.03.2024.", "on 15.03.2024."),
        ("am 01.02.2023", "on 01/01.02.2023", "on 01.02.2023"),
        ("am 15.03.2024 um 14:30 Uhr", "at 3:30am on 14:30am", None),
        ("am 15.03.2024", "on March 15, 2024", None),
        ("1.2.2023 - 3.4.2023", "1.2/2023 - 3.4/2023", "1.2.2023 - 3.4.2023"),
    ],
)
def test_put_right(source: str, written: str, expected: str | None) -> None:
    assert put_dates_right(source, written) == (expected or written)


@given(st.text("123./- ", max_size=30), st.text("123./- ", max_size=30))
def test_any_text(source: str, translation: str) -> None:
    found = put_dates_right(source, translation)
    assert set(lost_dates(source, found)) <= set(lost_dates(source, translation))
    assert lost_dates(source, source) == []
    assert all(date in source for date in dates(source))
