"""Tables of recall: by scope, along curves, with and without context, and by aligner."""

from collections.abc import Iterator, Sequence

from sieve.evaluate.measure.aligner_recall import TOP, AlignerRow
from sieve.evaluate.measure.context import ContextRow
from sieve.evaluate.measure.curve import Curve
from sieve.evaluate.measure.scopes import ScopeRow
from sieve.evaluate.present.text_table import Table


def scope_tables(rows: Sequence[ScopeRow]) -> list[Table]:
    """A table for each model and set: recall in percent at the mean size, by scope."""
    tables = []
    for model, test in dict.fromkeys((row.model, row.test) for row in rows):
        here = [row for row in rows if (row.model, row.test) == (model, test)]
        scopes = list(dict.fromkeys(row.scope for row in here))
        cells = {
            (row.selection, row.scope): _cell(row.counted, row.recall, row.mean_size)
            for row in here
        }
        lines = tuple(
            (name, *(cells[name, scope] for scope in scopes))
            for name in dict.fromkeys(row.selection for row in here)
        )
        notes = [
            f"{row.scope}: {row.counted} of {row.sentences} sentences need {row.tokens} tokens"
            for row in here
            if row.selection == here[0].selection
        ]
        title = f"{test}, recall of unique tokens in % at the mean shortlist size ({model})"
        shown = here[0].signature.partition("|engine:")
        notes += [f"test:{test}{shown[1]}{shown[2]}"]
        tables.append(Table(title, ("selection", *scopes), lines, tuple(notes)))
    return tables


def curve_tables(curves: Sequence[Curve]) -> list[Table]:
    """A table for each model and set: every point in every scope."""
    groups: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        groups.setdefault((curve.model, curve.test), []).append(curve)
    return [_curve_table(model, test, group) for (model, test), group in groups.items()]


def _curve_table(model: str, test: str, curves: Sequence[Curve]) -> Table:
    scopes = list(dict.fromkeys(curve.scope for curve in curves))
    cells: dict[str, dict[str, str]] = {}
    for curve in curves:
        for point in curve.points:
            row = cells.setdefault(f"{curve.method}:{point.setting:g}", {})
            row[curve.scope] = _cell(curve.counted, point.recall, point.mean_size)
    lines = tuple((name, *(row.get(scope, "-") for scope in scopes)) for name, row in cells.items())
    notes = tuple(
        dict.fromkeys(
            f"{curve.scope}: {curve.counted} of {curve.sentences} sentences "
            f"need {curve.tokens} tokens"
            for curve in curves
        )
    )
    title = f"{test}, recall of unique tokens in % at the mean shortlist size ({model})"
    compared = tuple(note for scope in scopes for note in _compared(scope, curves))
    return Table(title, ("selection", *scopes), lines, notes + compared)


def _compared(scope: str, curves: Sequence[Curve]) -> Iterator[str]:
    """Where the head reaches more than the lexicon does with as many tokens."""
    here = {curve.method: curve for curve in curves if curve.scope == scope and curve.counted}
    if set(here) != {"nvs", "lexicon"}:
        return
    head, shared = here["nvs"], "at the lexicon's mean sizes"
    below = [
        f"{point.setting:g}"
        for point in here["lexicon"].points
        if head.recall_at(point.mean_size) <= point.recall  # never where NaN
    ]
    if below:
        yield f"{scope}: {shared}, nvs is not above it for k = {', '.join(below)}"
    else:
        yield f"{scope}: {shared}, nvs is above it for every k"


def _cell(counted: int, recall: float, size: float) -> str:
    """Recall at a size; no number where nothing was to be found."""
    return f"{100 * recall:.1f} at {size:.0f}" if counted else f"- at {size:.0f}"


def context_tables(rows: Sequence[ContextRow]) -> list[Table]:
    """A table for each set, and its examples as notes."""
    shares = ("context", "no context", "only context", "only no context")
    headers = ("tokens, λ", *shares, "size", "size without", "no context, as large")
    tables = []
    for test in dict.fromkeys(row.test for row in rows):
        here = [row for row in rows if row.test == test]
        lines = tuple(
            (
                f"{row.scope}, {row.threshold:g}",
                *(f"{100 * share:.1f}" for share in (row.context, row.no_context)),
                *(f"{100 * share:.1f}" for share in (row.only_context, row.only_no_context)),
                f"{row.mean_size:.0f}",
                f"{row.mean_size_no_context:.0f}",
                f"{100 * row.no_context_at_size:.1f}",
            )
            for row in here
        )
        notes = list(dict.fromkeys(f"{row.scope}: {row.segments} segments" for row in here))
        shown = max(here, key=lambda row: len(row.examples), default=here[0])
        notes += [
            f"{example.source}  ({example.idiom}: {example.translation}, only in context: "
            f"{' '.join(example.only_in_context)})"
            for example in shown.examples
        ]
        title = f"{test}, % of segments with all idiom tokens selected"
        tables.append(Table(title, headers, lines, tuple(notes)))
    return tables


def aligner_tables(rows: Sequence[AlignerRow]) -> list[Table]:
    """A table for each set, laid out as the paper's."""
    headers = [f"{name}, k={k}" for k in TOP for name in ("out %", "ref %", "size")]
    tables = []
    for test in dict.fromkeys(row.test for row in rows):
        here = [row for row in rows if row.test == test]
        lines = []
        for name in dict.fromkeys(row.lexicon for row in here):
            cells = [
                text
                for row in here
                if row.lexicon == name
                for text in (
                    f"{100 * row.output:.1f}",
                    f"{100 * row.reference:.1f}",
                    f"{row.mean_size:.0f}",
                )
            ]
            lines.append((name, *cells))
        notes = [f"{row.lexicon}: {row.about}" for row in here if row.about and row.k == TOP[0]]
        notes.append(here[0].signature.replace(f"|selection:{here[0].lexicon}:{here[0].k}", ""))
        title = f"{test}, recall of unique output and reference tokens by lexicon"
        tables.append(Table(title, ("lexicon", *headers), tuple(lines), tuple(notes)))
    return tables
