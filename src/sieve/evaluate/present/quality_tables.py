"""Quality, shortlists and latency as one table a set: over several models mean and deviation.

The signature of every number is in the notes.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sieve.evaluate.measure.comparison import NONE, Row
from sieve.evaluate.present.text_table import Table

SIGNIFICANT = 0.05
_DIGITS = {"COMET": 3, "size": 0, "p50 ms": 1, "p90 ms": 1}


@dataclass(frozen=True)
class Value:
    """A mean over models; without a deviation where there is one model."""

    mean: float
    deviation: float | None = None


@dataclass(frozen=True)
class SelectionSummary:
    """One selection on one set, over all models."""

    test: str
    selection: str
    models: int
    values: dict[str, Value]


def numbers(row: Row) -> dict[str, float]:
    """Everything a row measured, by the name of its column."""
    columns = {score.name: score.value for score in row.quality}
    columns |= {
        "size": row.reference.mean_size,
        "ref %": 100 * row.reference.recall,
        "out %": 100 * row.output.recall,
        "same %": 100 * row.identical,
    }
    if row.latency is not None:
        columns |= {"p50 ms": row.latency.p50, "p90 ms": row.latency.p90}
    return columns


def summarise(rows: Sequence[Row]) -> list[SelectionSummary]:
    """One summary for each set and selection, in the order of the rows."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.test, row.selection), []).append(row)
    return [
        SelectionSummary(test, selection, len(group), _values([numbers(row) for row in group]))
        for (test, selection), group in groups.items()
    ]


def quality_tables(rows: Sequence[Row]) -> list[Table]:
    """A table for each set."""
    tables = []
    for test in dict.fromkeys(row.test for row in rows):
        of_test = [row for row in rows if row.test == test]
        summaries = summarise(of_test)
        columns = list(dict.fromkeys(name for summary in summaries for name in summary.values))
        lines = tuple(
            (summary.selection, *(_cell(summary, name, of_test) for name in columns))
            for summary in summaries
        )
        models = list(dict.fromkeys(row.model for row in of_test))
        whose = models[0] if len(models) == 1 else f"{len(models)} models"
        title = f"{test}: {of_test[0].sentences} sentences, {whose}"
        tables.append(Table(title, ("selection", *columns), lines, tuple(_notes(of_test))))
    return tables


def _values(measured: Sequence[dict[str, float]]) -> dict[str, Value]:
    columns = {name: [run[name] for run in measured if name in run] for name in measured[0]}
    return {
        name: Value(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)
        for name, values in columns.items()
    }


def _cell(summary: SelectionSummary, name: str, rows: Sequence[Row]) -> str:
    if name not in summary.values:
        return "-"
    value, digits = summary.values[name], _DIGITS.get(name, 1)
    text = f"{value.mean:.{digits}f}"
    if value.deviation is not None:
        return f"{text} ±{value.deviation:.{digits}f}"
    (row,) = (row for row in rows if row.selection == summary.selection)
    for score in row.quality:
        if score.name == name and score.interval is not None:
            significant = score.p_value is not None and score.p_value < SIGNIFICANT
            return f"{text} ±{score.interval:.{digits}f}{'*' if significant else ' '}"
    return text


def _notes(rows: Sequence[Row]) -> Iterable[str]:
    first, models = rows[0], list(dict.fromkeys(row.model for row in rows))
    if len(models) > 1:
        yield f"mean ± standard deviation over {len(models)} models: {', '.join(models)}"
    elif first.quality and first.quality[0].interval is not None:
        yield (
            f"± half of the 95 % interval; * differs from {NONE} (paired bootstrap, "
            f"p < {SIGNIFICANT})"
        )
    yield (
        f"size: mean tokens in a shortlist, of {first.reference.vocab_size}; ref %, out %: recall "
        "of unique tokens of the reference and of the unrestricted output; same %: lines "
        f"whose translation is the same as with {NONE}"
    )
    for score in first.quality:
        yield f"{score.name}: {score.signature}"
    if first.latency is not None:
        yield (
            f"ms a sentence: batch 1, {first.latency.sentences} sentences one at a time (the "
            "native engine gives a sentence one thread)"
        )
    yield first.signature.replace(f"|selection:{first.selection}", "")
