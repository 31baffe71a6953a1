"""Words that stand for others while a model translates."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.text.stand_ins import lost_dates, stand_ins


def test_there_and_back() -> None:
    found = stand_ins(
        "On 15.03.2024 Viersen met Peter in Lörrach.", ["15.03.2024", "Viersen", "Lörrach"]
    )
    assert found is not None
    assert found.line == "On 2015 Maria met Peter in Berlin."  # Peter is in the line
    assert found.restored("2015 traf Maria Peter in Berlin.") == (
        "15.03.2024 traf Viersen Peter in Lörrach."
    )
    assert found.restored("2015 traf Maria Peter.") is None  # one lost
    assert found.restored("2015 traf Maria Maria und Peter in Berlin.") is None  # one twice
    assert found.restored("2015 traf Marias Peter in Berlin.") is None  # not as a word


def test_others_another_time() -> None:
    lines = [stand_ins("A Viersen on 1.1.2021", ["Viersen", "1.1.2021"], n) for n in range(8)]
    made = [found.line for found in lines if found]
    assert made[:2] == ["A Peter on 2015", "A Maria on 2012"]
    assert len(set(made)) == len(made) == 4  # as many as there are years


def test_a_word_in_another_is_left() -> None:
    found = stand_ins("Anna-Ruh, Ruhr, Ruh", ["Ruh"])
    assert found is not None and found.line == "Anna-Peter, Ruhr, Peter"
    assert found.restored("Peter, Anna-Peter") == "Ruh, Anna-Ruh"


def test_none_where_there_is_none() -> None:
    assert stand_ins("nothing", []) is None
    assert stand_ins("many", [f"Name{i}" for i in range(20)]) is None
    assert stand_ins("1.1.2001 2.1.2001", [f"{i}.1.2001" for i in range(1, 9)]) is None


NAME = st.text("abcdefgh", min_size=3, max_size=6).map(str.capitalize)


@given(st.lists(NAME, min_size=1, max_size=4, unique=True), st.lists(st.sampled_from("uvwxyz")))
def test_a_copy_comes_back_as_it_was(names: list[str], others: list[str]) -> None:
    line = " ".join([*names, *others, *names[:1]])
    found = stand_ins(line, names)
    assert found is not None and not set(names) & set(re.findall(r"\w+", found.line))
    assert found.restored(found.line) == line


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("am 15.03.2024 um 14:30", "on 15.03.2024 at 14:30", []),
        ("am 15.03.2024.", "on 15,03-15.03.2024.", ["15.03.2024"]),
        ("am 01.02.2023", "on 01/01.02.2023", ["01.02.2023"]),
        ("on 12/31/2025", "am 31.12.2025", []),  # in German order
        ("on 12/31/2025", "am 12.31/2025", ["12/31/2025"]),
        ("2024-03-15", "am 15.3.2024", []),
        ("2024-03-15 and 2024-03-15", "gone", ["2024-03-15"]),
        ("1.2.2023, 3.4.2023", "am 1.2.2023", ["1.2.2023", "3.4.2023"]),  # both, to be sure
        ("Version 1.2.3 and 10.0.0.1, tel. 030/12/45-67", "none of them", []),
        ("no date", "1.1.2001", []),
    ],
)
def test_lost_dates(source: str, translation: str, expected: list[str]) -> None:
    assert lost_dates(source, translation) == expected
