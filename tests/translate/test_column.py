"""A pandas Series in and out, by a class with what is used of one, and by pandas where it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from sieve.errors import InputError
from sieve.translate.column import Column
from sieve.translate.translation import Translation


@dataclass
class FakeSeries:
    """What is used of a Series."""

    values: Sequence[Any]
    index: Any = None
    name: str = ""
    dtype: Any = None
    iloc: Any = None

    def to_list(self) -> list[Any]:
        return list(self.values)

    def isna(self) -> "FakeSeries":
        return FakeSeries([value is None for value in self.values])


def translated(text: str) -> Translation:
    return Translation(text, 0.0, 0, 1, (), ())


def test_index_name_and_missing_values_stay() -> None:
    column = Column.of(FakeSeries(["a", None, "b"], index="xyz", name="text"))
    assert column is not None and column.texts == ["a", "b"]
    filled = column.filled([translated("A"), translated("B")])
    assert [str(value) for value in filled.values] == ["A", "None", "B"]
    assert (filled.index, filled.name, filled.dtype) == ("xyz", "text", object)


@pytest.mark.parametrize("text", ["a", ["a"], ("a",), iter(["a"]), 3])
def test_what_is_no_series_is_none(text: object) -> None:
    assert Column.of(text) is None


def test_a_frame_is_refused() -> None:
    class Frame:
        iloc = None

    with pytest.raises(InputError, match=r"got a Frame, expected one of its columns, as frame\["):
        Column.of(Frame())


def test_a_real_series() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is no dependency")
    series = pandas.Series(["a", None, "b"], index=[5, 6, 9], name="text")
    column = Column.of(series)
    assert column is not None
    filled = column.filled([translated("A"), translated("B")])
    assert list(filled.index) == [5, 6, 9] and filled.name == "text"
    assert str(filled[9]) == "B" and pandas.isna(filled[6])
