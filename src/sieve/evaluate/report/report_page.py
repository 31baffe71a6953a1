"""A report as one HTML page: what it comes to first, then how. Measures nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from sieve.evaluate.benchmark.rounds import BenchmarkRow
from sieve.evaluate.measure.comparison import NONE, Row
from sieve.evaluate.measure.curve import Curve
from sieve.evaluate.measure.reliability import Reliability
from sieve.evaluate.present.benchmark_tables import benchmark_tables
from sieve.evaluate.present.charts import Axis, Bar, Chart, Dot, Series, bar_chart, line_chart
from sieve.evaluate.present.confidence_tables import reliability_tables
from sieve.evaluate.present.drawing import need_matplotlib
from sieve.evaluate.present.quality_tables import quality_tables
from sieve.evaluate.present.recall_tables import (
    aligner_tables,
    context_tables,
    curve_tables,
    scope_tables,
)
from sieve.evaluate.present.text_table import Table
from sieve.evaluate.report.contents import Report
from sieve.explain.explanation import Explanation
from sieve.pages.standalone import need_templates, render

_COLOURS = ("nvs", "lexicon")


@dataclass(frozen=True)
class Fold:
    """Something that is shown when its title is clicked."""

    title: str
    tables: Sequence[Table] = ()
    explanation: Explanation | None = None


@dataclass(frozen=True)
class Section:
    """What stands below a heading, in this order."""

    title: str
    lines: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    folds: Sequence[Fold] = ()


def need_page_libraries() -> None:
    """Says what has to be installed for a page before anything is measured."""
    need_matplotlib()
    need_templates()


def as_page(report: Report) -> str:
    """The page; whatever names and sentences hold is text in it."""
    names = ", ".join(Path(model).name for model in report.engines)
    sections = [build(report) for build in _SECTIONS]
    shown = [part for part in sections if part.lines or part.charts or part.tables or part.folds]
    return render("evaluate/report/report.html", title=f"Report on {names}", sections=shown)


def _costs(report: Report) -> Section:
    """The first set in a sentence each: what selection costs and saves."""
    lines = []
    for model, engine in report.engines.items():
        languages = " to ".join(filter(None, report.languages[model]))
        lines.append(f"{Path(model).name} ({languages or 'languages unknown'}): {engine}.")
        rows = [row for row in report.rows if row.model == model]
        here = {row.selection: row for row in rows if row.test == rows[0].test}
        timed = {row.selection: row for row in report.benchmark if row.model == model}
        lines += [_cost(here[NONE], row, timed) for name, row in here.items() if name != NONE]
    return Section("What selection costs and saves", lines)


def _cost(none: Row, row: Row, timed: dict[str, BenchmarkRow]) -> str:
    scores = ", ".join(
        f"{own.name} {own.value - base.value:+.1f}"
        for own, base in zip(row.quality, none.quality, strict=True)
    )
    faster = ""
    if row.selection in timed:
        faster = f", p90 latency {100 * timed[row.selection].relative.value:.0f} % of {NONE}"
    return (
        f"{row.test}, {row.selection}: {row.reference.mean_size:.0f} of "
        f"{row.reference.vocab_size} tokens, {scores}, {100 * row.identical:.0f} % of outputs "
        f"unchanged, {100 * row.reference.recall:.1f} % of reference tokens within reach{faster}."
    )


def _quality(report: Report) -> Section:
    alike = len(set(report.languages.values())) == 1
    by_model = [[row for row in report.rows if row.model == model] for model in report.engines]
    groups = [report.rows] if alike else by_model
    tables = [table for group in groups for table in quality_tables(group)]
    return Section("Quality and selection", tables=tables)


def _latency(report: Report) -> Section:
    charts = []
    for model, test in dict.fromkeys((row.model, row.test) for row in report.benchmark):
        here = [row for row in report.benchmark if (row.model, row.test) == (model, test)]
        bars = [
            Bar(
                row.selection,
                row.p90.value,
                row.p90.interval or 0.0,
                next((name for name in _COLOURS if row.selection.startswith(name)), "none"),
                f"{row.selection}: p90 {row.p90.shown(2)} ms, {row.mean_size:.0f} tokens",
            )
            for row in here
        ]
        charts.append(bar_chart(f"{test}, {Path(model).name}", bars, "p90, ms a sentence"))
    return Section("Latency", charts=charts, tables=benchmark_tables(report.benchmark))


def _recall(report: Report) -> Section:
    panels: dict[tuple[str, str], list[Curve]] = {}
    for curve in report.curves:
        if curve.counted:
            panels.setdefault((curve.test, curve.scope), []).append(curve)
    models = list(report.engines)
    charts = [
        line_chart(
            f"{test}, {scope}",
            [_line(curve, models) for curve in curves],
            Axis("mean shortlist size, tokens", log=True),
            Axis("recall, %"),
        )
        for (test, scope), curves in panels.items()
    ]
    tables = curve_tables(report.curves)
    folds = [Fold("All points", tables)] if tables else []
    return Section("Recall against shortlist size", charts=charts, folds=folds)


def _line(curve: Curve, models: Sequence[str]) -> Series:
    letter, label = ("λ", "NVS") if curve.method == "nvs" else ("k", "lexicon")
    dots = tuple(
        Dot(
            point.mean_size,
            100 * point.recall,
            f"{label} {letter} = {point.setting:g}: {100 * point.recall:.1f} % at "
            f"{point.mean_size:.0f} tokens",
        )
        for point in curve.points
    )
    if len(models) > 1:
        label += f", {Path(curve.model).name}"
    return Series(label, curve.method, dots, models.index(curve.model))


def _confidence(report: Report) -> Section:
    panels: dict[tuple[str, str], list[Reliability]] = {}
    for measured in report.reliability:
        panels.setdefault((measured.test, measured.model), []).append(measured)
    charts = []
    for (test, model), selections in panels.items():
        title = f"{test}, {Path(model).name}"
        sure = Axis("confidence, mean of a tenth", bounds=(0, 1))
        same = Axis("outputs as without selection", bounds=(0, 1))
        shares = [_deciles(each, dash, "same") for dash, each in enumerate(selections)]
        scores = [_deciles(each, dash, "chrf") for dash, each in enumerate(selections)]
        charts += [
            line_chart(f"{title}: unchanged outputs", [_promised(), *shares], sure, same),
            line_chart(f"{title}: quality", scores, sure, Axis("sentence chrF")),
        ]
    tables = reliability_tables(report.reliability)
    folds = [Fold("All tenths", tables)] if tables else []
    return Section("Confidence", charts=charts, folds=folds)


def _promised() -> Series:
    return Series("as promised", "none", (Dot(0, 0, ""), Dot(1, 1, "")), 2, shows_dots=False)


def _deciles(measured: Reliability, dash: int, value: Literal["same", "chrf"]) -> Series:
    dots = tuple(
        Dot(
            part.confidence,
            getattr(part, value),
            f"{measured.selection}: confidence {part.confidence:.2f}, {100 * part.same:.0f} % of "
            f"{part.sentences} outputs as without selection, chrF {part.chrf:.1f}",
        )
        for part in measured.deciles
    )
    return Series(measured.selection, "nvs", dots, dash)


def _idioms(report: Report) -> Section:
    return Section("Idioms and proverbs", tables=scope_tables(report.idioms))


def _context(report: Report) -> Section:
    tables = [
        replace(table, title=f"{table.title} ({model})")
        for model, rows in report.context.items()
        for table in context_tables(rows)
    ]
    return Section("Context", tables=tables)


def _aligners(report: Report) -> Section:
    return Section("Aligners", tables=aligner_tables(report.aligners))


def _examples(report: Report) -> Section:
    folds = [
        Fold(f"{explanation.source} ({Path(model).name})", explanation=explanation)
        for model, explanations in report.explanations.items()
        for explanation in explanations
    ]
    return Section("Examples: who voted for what", folds=folds)


_SECTIONS: tuple[Callable[[Report], Section], ...] = (
    _costs, _quality, _latency, _recall, _confidence, _idioms, _context, _aligners, _examples,
)  # fmt: skip
