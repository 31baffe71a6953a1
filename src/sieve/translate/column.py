"""A column of a data frame as texts, and translations as a column of the same kind.

Knows pandas by what its Series have, and imports none of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from sieve.errors import InputError

if TYPE_CHECKING:
    from sieve.translate.translation import Translation


class PandasSeries(Protocol):
    """What a pandas Series has."""

    index: Any
    name: Any

    def to_list(self) -> list[Any]:
        """Its values."""

    def isna(self) -> Any:
        """Which of them are missing, as another Series."""


@dataclass(frozen=True)
class Column:
    """The values of a Series, some of which may be missing."""

    series: Any
    values: list[Any]
    rows: list[int]
    """Of values that are not missing."""

    @classmethod
    def of(cls, text: object) -> Column | None:
        """The column that an argument is, or None."""
        if not hasattr(text, "iloc"):
            return None
        if not hasattr(text, "to_list"):
            raise InputError(
                f"text: got a {type(text).__name__}, expected one of its columns, as frame['text']"
            )
        missing = text.isna().to_list()  # type: ignore[attr-defined]
        rows = [row for row, is_missing in enumerate(missing) if not is_missing]
        return cls(text, text.to_list(), rows)

    @property
    def texts(self) -> list[Any]:
        """The values that are there."""
        return [self.values[row] for row in self.rows]

    def filled(self, translations: Sequence[Translation]) -> Any:
        """A Series of translations with the same index and name; missing values stay missing."""
        values = list(self.values)
        for row, translation in zip(self.rows, translations, strict=True):
            values[row] = translation
        series = self.series
        return type(series)(values, index=series.index, name=series.name, dtype=object)
