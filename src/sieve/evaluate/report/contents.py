"""Everything there is to measure about models, one stage after the other, with one progress bar.

A stage asks one question of one set; its steps are weighted by what a line costs, so that the bar
moves evenly.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from sieve.evaluate.benchmark.one_run import Job
from sieve.evaluate.benchmark.rounds import BenchmarkRow, measure_benchmark
from sieve.evaluate.measure.aligner_recall import AlignerRow, measure_aligners
from sieve.evaluate.measure.comparison import (
    Row,
    TableOptions,
    rows_of,
    steps,
    translated_all,
    with_baseline,
)
from sieve.evaluate.measure.context import ContextRow, measure_context
from sieve.evaluate.measure.curve import Curve, measure_curves
from sieve.evaluate.measure.idioms import IdiomSet, ProverbSet
from sieve.evaluate.measure.probes import HeadAnswers, Probe
from sieve.evaluate.measure.reliability import Reliability, measure_reliability
from sieve.evaluate.measure.scopes import ScopeRow, measure_scopes
from sieve.evaluate.measure.sets import ParallelSet
from sieve.explain.explanation import ExplainOptions, Explanation, explain
from sieve.log import logger
from sieve.selection.lexicon import Lexicon
from sieve.translate.translator import Translator

Done = Callable[[float], object]
EXAMPLES = 3
_CANDIDATES = 200
"""Sentences that examples are chosen from."""
_LONGEST = 24
"""Source tokens of an example, at most."""
_CONTEXT, _CURVE, _SCOPES, _RUN = 4.0, 1.0, 2.0, 100.0
"""What a step costs, in lines translated."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, and what it is measured on."""

    model: str
    translator: Translator
    sets: tuple[ParallelSet, ...]
    idioms: tuple[IdiomSet | ProverbSet, ...]
    options: TableOptions
    aligners: Mapping[str, Lexicon] = field(default_factory=dict)
    job: Job | None = None
    """Latency in fresh processes, without its sentences; None for no latency."""
    runs: int = 0
    timed: int = 100
    """Sentences timed in each run."""


@dataclass
class Report:
    """Everything measured, as the verbs write it."""

    engines: dict[str, str] = field(default_factory=dict)
    languages: dict[str, tuple[str, str]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    benchmark: list[BenchmarkRow] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    reliability: list[Reliability] = field(default_factory=list)
    idioms: list[ScopeRow] = field(default_factory=list)
    context: dict[str, list[ContextRow]] = field(default_factory=dict)
    aligners: list[AlignerRow] = field(default_factory=list)
    explanations: dict[str, list[Explanation]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    """What each stage took."""

    def as_json(self) -> dict[str, Any]:
        """Every number; `direction` where there is one.

        No sentences: test sets often may not be passed on, and this file is what gets recorded.
        """
        directions = {"-".join(pair) for pair in self.languages.values()}
        known = {"direction": directions.pop()} if len(directions) == 1 else {}
        values = asdict(self)
        del values["explanations"]
        for rows in values["context"].values():
            for row in rows:
                del row["examples"]
        return {**known, **values}


@dataclass(frozen=True)
class Stage:
    """A part of the report: `run` is given what to call with the steps done."""

    label: str
    cost: float
    run: Callable[[Done], None]


def stages(subject: Subject, report: Report) -> list[Stage]:
    """What is to be done for one model; each stage adds to the report."""
    translator = subject.translator
    report.engines[subject.model] = str(translator.engine)
    report.languages[subject.model] = translator.languages
    return [
        *_tables(subject, report),
        *_latency(subject, report),
        *_curves(subject, report),
        *_idioms(subject, report),
        *_aligners(subject, report),
        Stage(f"examples, {subject.model}", EXAMPLES, lambda done: _explain(subject, report, done)),
    ]


def run_all(todo: Sequence[Stage], report: Report, done: Done) -> None:
    """Runs the stages, and says what each took: where there is no terminal there is no bar."""
    for stage in todo:
        start = time.monotonic()
        stage.run(done)
        report.seconds[stage.label] = round(time.monotonic() - start, 1)
        logger.info("%s: %.0f s", stage.label, report.seconds[stage.label])


def _tables(subject: Subject, report: Report) -> Iterator[Stage]:
    for test_set in subject.sets:

        def run(done: Done, test_set: ParallelSet = test_set) -> None:
            model, translator, options = subject.model, subject.translator, subject.options
            translations = translated_all(translator, test_set, options, done)
            report.rows += rows_of(translator, model, test_set, translations, options, done)
            report.reliability += measure_reliability(
                model, test_set.name, translations, test_set.references
            )

        yield Stage(
            f"table, {subject.model}, {test_set.name}", steps([test_set], subject.options), run
        )


def _latency(subject: Subject, report: Report) -> Iterator[Stage]:
    if subject.job is None or not subject.runs:
        return
    number = subject.runs * len(with_baseline(subject.options.selections))
    # one set says what the others would: latency depends on lengths alone
    for test_set in subject.sets[:1]:
        job = replace(subject.job, sources=test_set.spread(subject.timed).sources)

        def run(done: Done, job: Job = job, name: str = test_set.name) -> None:
            report.benchmark += measure_benchmark(
                job, name, subject.options.selections, subject.runs, lambda n: done(_RUN * n)
            )

        yield Stage(f"latency, {subject.model}, {test_set.name}", _RUN * number, run)


def _curves(subject: Subject, report: Report) -> Iterator[Stage]:
    tokenizers, resources = subject.translator.tokenizers, subject.translator.resources
    head = resources.threshold is not None
    if resources.lexicon is None and not head:
        return
    probes = [
        Probe.of_text(
            test_set.name, tokenizers, test_set.sources, {"sentence": test_set.references}
        )
        for test_set in subject.sets
    ]
    probes += [probe for idiom_set in subject.idioms for probe in idiom_set.probes(tokenizers)]
    for probe in probes:

        def run(done: Done, probe: Probe = probe) -> None:
            lexicon = resources.lexicon() if resources.lexicon else None
            curves = measure_curves(
                subject.translator.engine,
                probe,
                lexicon,
                head=head,
                done=lambda n: done(_CURVE * n),
            )
            report.curves += [replace(curve, model=subject.model) for curve in curves]

        scopes = ", ".join(probe.needed)
        label = f"curves, {subject.model}, {probe.name} ({scopes})"
        yield Stage(label, _CURVE * len(probe.src_ids), run)


def _idioms(subject: Subject, report: Report) -> Iterator[Stage]:
    for idiom_set in subject.idioms:
        number = (
            len(idiom_set.idioms) if isinstance(idiom_set, IdiomSet) else len(idiom_set.sources)
        )

        def scopes(done: Done, idiom_set: Any = idiom_set, number: int = number) -> None:
            report.idioms += measure_scopes(
                subject.translator, subject.model, idiom_set, subject.options.selections
            )
            done(_SCOPES * number)

        yield Stage(f"idioms, {subject.model}, {idiom_set.name}", _SCOPES * number, scopes)
        if isinstance(idiom_set, IdiomSet) and subject.translator.resources.threshold is not None:

            def context(done: Done, idiom_set: IdiomSet = idiom_set) -> None:
                report.context.setdefault(subject.model, []).extend(
                    measure_context(
                        subject.translator, idiom_set, done=lambda n: done(_CONTEXT * n)
                    )
                )

            yield Stage(f"context, {subject.model}, {idiom_set.name}", _CONTEXT * number, context)


def _aligners(subject: Subject, report: Report) -> Iterator[Stage]:
    for test_set in subject.sets if subject.aligners else ():

        def run(done: Done, test_set: ParallelSet = test_set) -> None:
            report.aligners += measure_aligners(
                subject.translator, test_set, subject.aligners, subject.options, done
            )

        yield Stage(f"aligners, {subject.model}, {test_set.name}", len(test_set.sources), run)


def _explain(subject: Subject, report: Report, done: Done) -> None:
    options = ExplainOptions(subject.options.selections, search=subject.options.search)
    explanations = report.explanations.setdefault(subject.model, [])
    for source, reference in examples(subject):
        explanations.append(
            explain(subject.translator, source, replace(options, reference=reference))
        )
    done(EXAMPLES)


def examples(subject: Subject, number: int = EXAMPLES) -> list[tuple[str, str]]:
    """Short sentences whose references the head reaches and the lexicon does not, most first.

    Of idiom sets where there are some. Without a lexicon, those whose references the head loses.
    """
    translator, resources = subject.translator, subject.translator.resources
    pairs = [idiom_set.pairs for idiom_set in subject.idioms if isinstance(idiom_set, IdiomSet)]
    candidates = [*pairs, *subject.sets][:1]
    if not candidates or resources.threshold is None:
        return []
    test_set = candidates[0].spread(_CANDIDATES)
    probe = Probe.of_text(
        test_set.name, translator.tokenizers, test_set.sources, {"r": test_set.references}
    )
    head = translator.selector(f"nvs:{resources.threshold:g}")
    other = translator.selector("lexicon:200" if resources.lexicon else "none")
    gains: list[tuple[int, int]] = []
    for row, ids in enumerate(probe.src_ids):
        if len(ids) > _LONGEST:
            continue
        votes = HeadAnswers(translator.engine, [ids])
        needed = probe.needed["r"][row]
        with_head, without = (
            np.isin(needed, one_way.plan().select(votes)[0].ids) for one_way in (head, other)
        )
        gains.append((int(with_head.sum()) - int(without.sum()), row))
    best = sorted(gains, key=lambda gain: -abs(gain[0]) if not resources.lexicon else -gain[0])
    return [(test_set.sources[row], test_set.references[row]) for _, row in best[:number]]
