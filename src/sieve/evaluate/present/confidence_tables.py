"""Tables of what confidence promised and what happened."""

from collections.abc import Iterable

from sieve.evaluate.measure.comparison import NONE
from sieve.evaluate.measure.reliability import Reliability
from sieve.evaluate.present.text_table import Table


def reliability_tables(found: Iterable[Reliability]) -> list[Table]:
    """A table for each: what confidence said, and what happened."""
    note = (
        "tenths of the sentences by confidence, the least sure first; same %: lines translated as "
        f"with {NONE}; chrF: mean of the sentences"
    )
    return [
        Table(
            f"{one.test}, {one.selection} ({one.model})",
            ("tenth", "sentences", "confidence", "same %", "chrF"),
            tuple(
                (
                    str(number),
                    str(part.sentences),
                    f"{part.confidence:.3f}",
                    f"{100 * part.same:.1f}",
                    f"{part.chrf:.1f}",
                )
                for number, part in enumerate(one.deciles, 1)
            ),
            (
                f"mean distance of confidence from same: {one.gap:.3f}; rank correlation of "
                f"confidence and sentence chrF: {one.correlation:.2f}",
                note,
            ),
        )
        for one in found
    ]
