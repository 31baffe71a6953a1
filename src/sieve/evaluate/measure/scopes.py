"""Tables of recall by scope: idiom sets under given selections, and curves point by point."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sieve
from sieve.evaluate.measure.curve import Curve
from sieve.evaluate.measure.idioms import IdiomSet, ProverbSet
from sieve.evaluate.measure.probes import recalls
from sieve.evaluate.present.summary import Table
from sieve.translate.translator import Translator


@dataclass(frozen=True)
class ScopeRow:
    """One selection in one scope of a set."""

    model: str
    test: str
    selection: str
    scope: str
    recall: float
    mean_size: float
    sentences: int
    counted: int
    """Sentences that need any token in this scope."""
    tokens: int
    signature: str


def measure_scopes(
    translator: Translator, model: str, one: IdiomSet | ProverbSet, selections: Sequence[str]
) -> list[ScopeRow]:
    """Recall of each selection in each scope."""
    selectors = {name: translator.selector(name) for name in dict.fromkeys(selections)}
    rows = []
    for probe in one.probes(translator.tokenizers):
        for name, scopes in recalls(translator.engine, probe, selectors).items():
            rows += [
                ScopeRow(
                    model,
                    one.name,
                    name,
                    scope,
                    found.recall,
                    found.mean_size,
                    len(probe.src_ids),
                    probe.counted(scope),
                    probe.tokens(scope),
                    f"test:{one.name}|scope:{scope}|selection:{name}"
                    f"|engine:{translator.engine}|version:{sieve.__version__}",
                )
                for scope, found in scopes.items()
            ]
    return rows


def scope_tables(rows: Sequence[ScopeRow]) -> list[Table]:
    """A table for each model and set: recall in percent at the mean size, by scope."""
    found = []
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
        title = f"{test}, recall of unique tokens in % at the mean set size ({model})"
        shown = here[0].signature.partition("|engine:")
        notes += [f"test:{test}{shown[1]}{shown[2]}"]
        found.append(Table(title, ("selection", *scopes), lines, tuple(notes)))
    return found


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
            f"{one.scope}: {one.counted} of {one.sentences} sentences need {one.tokens} tokens"
            for one in curves
        )
    )
    title = f"{test}, recall of unique tokens in % at the mean set size ({model})"
    compared = tuple(note for scope in scopes for note in _compared(scope, curves))
    return Table(title, ("selection", *scopes), lines, notes + compared)


def _compared(scope: str, curves: Sequence[Curve]) -> Iterator[str]:
    """Where the head finds more than the lexicon does with as many words."""
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
