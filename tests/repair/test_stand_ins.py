"""Words that stand for others while a model translates."""

import re

from hypothesis import given
from hypothesis import strategies as st

from sieve.repair.stand_ins import stand_ins


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
    lines = [stand_ins("A Viersen on 1.1.2021", ["Viersen", "1.1.2021"], "", n) for n in range(8)]
    made = [found.line for found in lines if found]
    assert made[:2] == ["A Peter on 2015", "A Maria on 2012"]
    assert len(set(made)) == len(made) == 4  # as many as there are years


def test_others_than_the_first_translation_has() -> None:
    found = stand_ins("the Mary met Viersen", ["Viersen"], avoid="Maria traf Peter")
    assert found is not None and found.line == "the Mary met Berlin"


def test_a_date_is_no_year() -> None:
    found = stand_ins("It ends on 3/15/24.", ["3/15/24"])
    assert found is not None and found.restored("Es endet am Jahr 2015.") is None
    assert found.restored("Es endet 2015.") == "Es endet 3/15/24."
    said = stand_ins("In the year 1999, on 3/15/24.", ["3/15/24"])
    assert (
        said is not None and said.restored("Im Jahr 1999, am 2015.") == "Im Jahr 1999, am 3/15/24."
    )


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
