"""A report as one HTML page that needs nothing else: what was found first, then how."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Literal

from sieve.evaluate.benchmark.rounds import BenchmarkRow
from sieve.evaluate.measure.comparison import NONE, Row
from sieve.evaluate.measure.curve import Curve
from sieve.evaluate.measure.reliability import Reliability
from sieve.evaluate.present.benchmark_tables import benchmark_tables
from sieve.evaluate.present.charts import Axis, Bar, Line, Point, bar_chart, line_chart
from sieve.evaluate.present.confidence_tables import reliability_tables
from sieve.evaluate.present.quality_tables import quality_tables
from sieve.evaluate.present.recall_tables import (
    aligner_tables,
    context_tables,
    curve_tables,
    scope_tables,
)
from sieve.evaluate.present.text_table import Table
from sieve.evaluate.present.web import page, table_html
from sieve.evaluate.report.contents import Report
from sieve.explain.explanation_page import body as explanation_body

_COLOURS = ("nvs", "lexicon")


def as_page(report: Report) -> str:
    """The page; whatever names and sentences hold is text in it."""
    names = ", ".join(Path(model).name for model in report.engines)
    sections = [
        (title, content)
        for title, render in _SECTIONS.items()
        if (content := render(report).strip())
    ]
    links = "".join(
        f'<li><a href="#part{n}">{escape(title)}</a></li>' for n, (title, _) in enumerate(sections)
    )
    parts = "".join(
        f'<section id="part{n}"><h2>{escape(title)}</h2>{content}</section>'
        for n, (title, content) in enumerate(sections)
    )
    return page(
        f"Report on {names}",
        f"<h1>Report on {escape(names)}</h1><nav><ul>{links}</ul></nav>{parts}",
    )


def _findings(report: Report) -> str:
    """The first set in a sentence each: what selection costs and saves."""
    lines = []
    for model, engine in report.engines.items():
        languages = " to ".join(filter(None, report.languages[model]))
        lines.append(f"{Path(model).name} ({languages or 'languages unknown'}): {engine}.")
        rows = [row for row in report.rows if row.model == model]
        here = {row.selection: row for row in rows if row.test == rows[0].test}
        timed = {row.selection: row for row in report.benchmark if row.model == model}
        lines += [_cost(here[NONE], row, timed) for name, row in here.items() if name != NONE]
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


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
        f"{row.reference.vocab_size} words, {scores}, {100 * row.identical:.0f} % of outputs "
        f"unchanged, {100 * row.reference.recall:.1f} % of reference tokens within reach{faster}."
    )


def _quality(report: Report) -> str:
    alike = len(set(report.languages.values())) == 1
    groups = [[row for row in report.rows if row.model == model] for model in report.engines]
    return _tables([table for group in ([report.rows] if alike else groups)
                    for table in quality_tables(group)])  # fmt: skip


def _latency(report: Report) -> str:
    charts = []
    for model, test in dict.fromkeys((row.model, row.test) for row in report.benchmark):
        here = [row for row in report.benchmark if (row.model, row.test) == (model, test)]
        bars = [
            Bar(
                row.selection,
                row.p90.value,
                row.p90.interval or 0.0,
                next((name for name in _COLOURS if row.selection.startswith(name)), "none"),
                f"{row.selection}: p90 {row.p90.shown(2)} ms, {row.mean_size:.0f} words",
            )
            for row in here
        ]
        charts.append(bar_chart(f"{test}, {Path(model).name}", bars, "p90, ms a sentence"))
    return _grid(charts) + _tables(benchmark_tables(report.benchmark))


def _recall(report: Report) -> str:
    panels: dict[tuple[str, str], list[Curve]] = {}
    for curve in report.curves:
        if curve.counted:
            panels.setdefault((curve.test, curve.scope), []).append(curve)
    models = list(report.engines)
    charts = [
        line_chart(
            f"{test}, {scope}",
            [_line(curve, models) for curve in curves],
            Axis("mean set size, words", log=True),
            Axis("recall, %"),
        )
        for (test, scope), curves in panels.items()
    ]
    return _grid(charts) + _folded("All points", _tables(curve_tables(report.curves)))


def _line(curve: Curve, models: Sequence[str]) -> Line:
    letter, label = ("λ", "NVS") if curve.method == "nvs" else ("k", "lexicon")
    points = tuple(
        Point(
            point.mean_size,
            100 * point.recall,
            f"{label} {letter} = {point.setting:g}: {100 * point.recall:.1f} % at "
            f"{point.mean_size:.0f} words",
        )
        for point in curve.points
    )
    if len(models) > 1:
        label += f", {Path(curve.model).name}"
    return Line(label, curve.method, points, models.index(curve.model))


def _confidence(report: Report) -> str:
    panels: dict[tuple[str, str], list[Reliability]] = {}
    for one in report.reliability:
        panels.setdefault((one.test, one.model), []).append(one)
    charts = []
    for (test, model), found in panels.items():
        title = f"{test}, {Path(model).name}"
        sure = Axis("confidence, mean of a tenth", bounds=(0, 1))
        shares = [_promised(), *(_deciles(one, dash, "same") for dash, one in enumerate(found))]
        scores = [_deciles(one, dash, "chrf") for dash, one in enumerate(found)]
        same = Axis("outputs as without selection", bounds=(0, 1))
        charts += [
            line_chart(f"{title}: unchanged outputs", shares, sure, same),
            line_chart(f"{title}: quality", scores, sure, Axis("sentence chrF")),
        ]
    return _grid(charts) + _folded("All tenths", _tables(reliability_tables(report.reliability)))


def _promised() -> Line:
    return Line("as promised", "none", (Point(0, 0, ""), Point(1, 1, "")), 2, dots=False)


def _deciles(one: Reliability, dash: int, value: Literal["same", "chrf"]) -> Line:
    points = tuple(
        Point(
            part.confidence,
            getattr(part, value),
            f"{one.selection}: confidence {part.confidence:.2f}, {100 * part.same:.0f} % of "
            f"{part.sentences} outputs as without selection, chrF {part.chrf:.1f}",
        )
        for part in one.deciles
    )
    return Line(one.selection, "nvs", points, dash)


def _idioms(report: Report) -> str:
    return _tables(scope_tables(report.idioms))


def _context(report: Report) -> str:
    found = [
        replace(table, title=f"{table.title} ({model})")
        for model, rows in report.context.items()
        for table in context_tables(rows)
    ]
    return _tables(found)


def _aligners(report: Report) -> str:
    return _tables(aligner_tables(report.aligners))


def _examples(report: Report) -> str:
    return "".join(
        _folded(f"{one.source} ({Path(model).name})", explanation_body(one))
        for model, found in report.explanations.items()
        for one in found
    )


def _tables(found: Sequence[Table]) -> str:
    return "".join(map(table_html, found))


def _grid(charts: Sequence[str]) -> str:
    return f'<div class="charts">{"".join(charts)}</div>' if charts else ""


def _folded(title: str, content: str) -> str:
    if not content:
        return ""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


_SECTIONS: dict[str, Callable[[Report], str]] = {
    "What selection costs and saves": _findings,
    "Quality and selection": _quality,
    "Latency": _latency,
    "Recall against set size": _recall,
    "Confidence": _confidence,
    "Idioms and proverbs": _idioms,
    "Context": _context,
    "Aligners": _aligners,
    "Examples: who voted for what": _examples,
}
