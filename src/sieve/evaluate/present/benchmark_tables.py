"""Tables of latency in fresh processes."""

from collections.abc import Sequence

from sieve.evaluate.benchmark.rounds import BenchmarkRow
from sieve.evaluate.measure.comparison import NONE
from sieve.evaluate.measure.statistics import Mean
from sieve.evaluate.present.text_table import Table


def benchmark_tables(rows: Sequence[BenchmarkRow]) -> list[Table]:
    """A table for each model and set."""
    tables = []
    for model, test in dict.fromkeys((row.model, row.test) for row in rows):
        here = [row for row in rows if (row.model, row.test) == (model, test)]
        lines = tuple(
            (
                row.selection,
                f"{row.mean_size:.0f}",
                row.p50.shown(2),
                row.p90.shown(2),
                "100" if row.selection == NONE else _percent(row.relative),
            )
            for row in here
        )
        notes = (
            f"mean over {len(here[0].runs)} fresh processes each, taking turns, ± half of its "
            f"95 % interval (Student's t); % of {NONE}: of p90, round by round",
            here[0].signature.replace(f"|selection:{here[0].selection}", ""),
        )
        headers = ("selection", "size", "p50 ms", "p90 ms", f"% of {NONE}")
        title = f"{test}: latency of {here[0].sentences} sentences one at a time, {model}"
        tables.append(Table(title, headers, lines, notes))
    return tables


def _percent(share: Mean) -> str:
    half = None if share.interval is None else 100 * share.interval
    return Mean(100 * share.value, half, share.number).shown(1)
