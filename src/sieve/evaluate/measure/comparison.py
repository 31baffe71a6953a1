"""Ways to select compared on a test set: what selection costs and what it saves.

The unrestricted output is always computed: the others are compared with it. Text goes through the
translator as a user's would; sets and recall are of whole lines.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

import sieve
from sieve.engines.options import SearchOptions
from sieve.evaluate.measure.comet import Comet
from sieve.evaluate.measure.latency import Latency, measure_latency, processor
from sieve.evaluate.measure.probes import Probe, recalls
from sieve.evaluate.measure.quality import RESAMPLES, Score, compared
from sieve.evaluate.measure.recall import Recall, needed_tokens
from sieve.evaluate.measure.sets import ParallelSet
from sieve.selection.plan import Selector
from sieve.translate.translation import Request, Translation
from sieve.translate.translator import Translator

NONE = "none"
_CHUNK = 128
"""Lines translated between two steps of a progress bar."""


@dataclass(frozen=True)
class TableOptions:
    """What to measure, beside which sets."""

    selections: tuple[str, ...] = (NONE,)
    search: SearchOptions = field(default_factory=SearchOptions)
    latency_sentences: int = 100
    """Sentences timed one at a time, evenly spaced; 0 for none."""
    resamples: int = RESAMPLES
    comet: Comet | None = None


@dataclass(frozen=True)
class Row:
    """One selection on one set."""

    model: str
    test: str
    selection: str
    sentences: int
    quality: tuple[Score, ...]
    reference: Recall
    """Of unique reference tokens, and the mean shortlist size."""
    output: Recall
    """Of unique tokens of the unrestricted output."""
    identical: float
    """Share of lines whose translation is that without selection."""
    latency: Latency | None
    signature: str


Step = Callable[[int], object]


def steps(sets: Sequence[ParallelSet], options: TableOptions) -> int:
    """Steps of a progress bar for one model: lines translated and timed."""
    number = len(with_baseline(options.selections))
    lines = sum(len(one.sources) for one in sets)
    return lines * number + sum(len(_timed(one, options)) for one in sets)


def with_baseline(selections: Sequence[str]) -> tuple[str, ...]:
    """The selections without repetition, the unrestricted one first."""
    return tuple(dict.fromkeys([NONE, *selections]))


def measure(
    translator: Translator,
    model: str,
    one: ParallelSet,
    options: TableOptions,
    done: Step = lambda number: None,
) -> list[Row]:
    """A row for each selection, the unrestricted one first."""
    found = translated_all(translator, one, options, done)
    return rows_of(translator, model, one, found, options, done)


def translated_all(
    translator: Translator,
    one: ParallelSet,
    options: TableOptions,
    done: Step = lambda number: None,
) -> dict[str, list[Translation]]:
    """The set under each selection, the unrestricted one first."""
    names = with_baseline(options.selections)
    for name in names:
        translator.selector(name)  # errors now
    return {name: translated(translator, one, name, options, done) for name in names}


def rows_of(
    translator: Translator,
    model: str,
    one: ParallelSet,
    found: Mapping[str, Sequence[Translation]],
    options: TableOptions,
    done: Step = lambda number: None,
) -> list[Row]:
    """A row for each selection whose translations are there; the unrestricted one must be."""
    selectors = {name: translator.selector(name) for name in found}
    probe = output_probe(translator, one, found[NONE])
    sets = recalls(translator.engine, probe, selectors)
    timed = _latency(translator, one, selectors, options, done)
    texts = {name: [line.text for line in lines] for name, lines in found.items()}
    quality = _quality(translator, one, texts, options)
    return [
        Row(
            model,
            one.name,
            name,
            len(one.sources),
            tuple(quality[name]),
            sets[name]["reference"],
            sets[name]["output"],
            float(np.mean([a == b for a, b in zip(texts[name], texts[NONE], strict=True)])),
            timed.get(name),
            signature(translator, one, name, options.search),
        )
        for name in found
    ]


def signature(
    translator: Translator, one: ParallelSet, selection: str, search: SearchOptions
) -> str:
    """How the numbers of a row came about."""
    parts = {
        "test": one.name,
        "sentences": len(one.sources),
        "selection": selection,
        "beam": search.beam_size,
        "alpha": search.length_penalty,
        "stop": search.stop,
        "engine": translator.engine,
        "cpu": processor(),
        "version": sieve.__version__,
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items())


def translated(
    translator: Translator, one: ParallelSet, selection: str, options: TableOptions, done: Step
) -> list[Translation]:
    """The set under one selection, with a step of the progress bar now and then."""
    request = Request(selection, options.search)
    found: list[Translation] = []
    for start in range(0, len(one.sources), _CHUNK):
        lines = one.sources[start : start + _CHUNK]
        found += translator.run(lines, request)
        done(len(lines))
    return found


def output_probe(translator: Translator, one: ParallelSet, full: Sequence[Translation]) -> Probe:
    """What the set needs: tokens of its references, and of the unrestricted output."""
    probe = Probe.of_text(
        one.name, translator.tokenizers, one.sources, {"reference": one.references}
    )
    specials = translator.engine.specials
    output = [needed_tokens(line.ids, specials) for line in full]
    return Probe(one.name, probe.src_ids, {**probe.needed, "output": output})


def _timed(one: ParallelSet, options: TableOptions) -> tuple[str, ...]:
    return one.spread(options.latency_sentences).sources


def _latency(
    translator: Translator,
    one: ParallelSet,
    selectors: Mapping[str, Selector],
    options: TableOptions,
    done: Step,
) -> dict[str, Latency]:
    lines = _timed(one, options)
    if not lines:
        return {}
    probe = Probe.of_text(one.name, translator.tokenizers, lines, {})
    return measure_latency(translator.engine, probe.src_ids, selectors, options.search, done)


def _quality(
    translator: Translator,
    one: ParallelSet,
    texts: Mapping[str, Sequence[str]],
    options: TableOptions,
) -> dict[str, list[Score]]:
    scores = compared(texts, one.references, translator.languages[1], options.resamples)
    if options.comet is not None:
        for name, lines in texts.items():
            scores[name].append(options.comet.score(one.sources, lines, one.references))
    return scores
