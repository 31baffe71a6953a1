"""Tables of what confidence promised and what happened."""

from collections.abc import Iterable

from sieve.evaluate.measure.comparison import NONE
from sieve.evaluate.measure.reliability import Reliability
from sieve.evaluate.present.text_table import Table


def reliability_tables(measured: Iterable[Reliability]) -> list[Table]:
    """A table for each: what confidence said, and what happened."""
    note = (
        "tenths of the sentences by confidence, the least sure first; same %: lines translated as "
        f"with {NONE}; chrF: mean of the sentences"
    )
    return [
        Table(
            f"{reliability.test}, {reliability.selection} ({reliability.model})",
            ("tenth", "sentences", "confidence", "same %", "chrF"),
            tuple(
                (
                    str(number),
                    str(part.sentences),
                    f"{part.confidence:.3f}",
                    f"{100 * part.same:.1f}",
                    f"{part.chrf:.1f}",
                )
                for number, part in enumerate(reliability.deciles, 1)
            ),
            (
                f"mean distance of confidence from same: {reliability.gap:.3f}; rank "
                f"correlation of confidence and sentence chrF: {reliability.correlation:.2f}",
                note,
            ),
        )
        for reliability in measured
    ]
