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
from sieve.evaluate.measure.forced import ForcedDecoding
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
    forced: ForcedDecoding | None = None


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
    lines = sum(len(test_set.sources) for test_set in sets)
    return lines * number + sum(len(_timed(test_set, options)) for test_set in sets)


def with_baseline(selections: Sequence[str]) -> tuple[str, ...]:
    """The selections without repetition, the unrestricted one first."""
    return tuple(dict.fromkeys([NONE, *selections]))


def measure(
    translator: Translator,
    model: str,
    test_set: ParallelSet,
    options: TableOptions,
    done: Step = lambda number: None,
) -> list[Row]:
    """A row for each selection, the unrestricted one first."""
    translations = translated_all(translator, test_set, options, done)
    return rows_of(translator, model, test_set, translations, options, done)


def translated_all(
    translator: Translator,
    test_set: ParallelSet,
    options: TableOptions,
    done: Step = lambda number: None,
) -> dict[str, list[Translation]]:
    """The set under each selection, the unrestricted one first."""
    names = with_baseline(options.selections)
    for name in names:
        translator.selector(name)  # errors now
    return {name: translated(translator, test_set, name, options, done) for name in names}


def rows_of(
    translator: Translator,
    model: str,
    test_set: ParallelSet,
    translations: Mapping[str, Sequence[Translation]],
    options: TableOptions,
    done: Step = lambda number: None,
) -> list[Row]:
    """A row for each selection whose translations are there; the unrestricted one must be."""
    selectors = {name: translator.selector(name) for name in translations}
    probe = output_probe(translator, test_set, translations[NONE])
    sets = recalls(translator.engine, probe, selectors)
    timed = _latency(translator, test_set, selectors, options, done)
    texts = {name: [line.text for line in lines] for name, lines in translations.items()}
    quality = _quality(translator, test_set, texts, options)
    return [
        Row(
            model,
            test_set.name,
            name,
            len(test_set.sources),
            tuple(quality[name]),
            sets[name]["reference"],
            sets[name]["output"],
            float(np.mean([a == b for a, b in zip(texts[name], texts[NONE], strict=True)])),
            timed.get(name),
            signature(translator, test_set, name, options.search),
        )
        for name in translations
    ]


def signature(
    translator: Translator, test_set: ParallelSet, selection: str, search: SearchOptions
) -> str:
    """How the numbers of a row came about."""
    parts = {
        "test": test_set.name,
        "sentences": len(test_set.sources),
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
    translator: Translator, test_set: ParallelSet, selection: str, options: TableOptions, done: Step
) -> list[Translation]:
    """The set under one selection, with a step of the progress bar now and then."""
    request = Request(selection, options.search)
    translations: list[Translation] = []
    for start in range(0, len(test_set.sources), _CHUNK):
        lines = test_set.sources[start : start + _CHUNK]
        translations += translator.run(lines, request)
        done(len(lines))
    return translations


def output_probe(
    translator: Translator, test_set: ParallelSet, full: Sequence[Translation]
) -> Probe:
    """What the set needs: tokens of its references, and of the unrestricted output."""
    probe = Probe.of_text(
        test_set.name, translator.tokenizers, test_set.sources, {"reference": test_set.references}
    )
    specials = translator.engine.specials
    output = [needed_tokens(line.ids, specials) for line in full]
    return Probe(test_set.name, probe.src_ids, {**probe.needed, "output": output})


def _timed(test_set: ParallelSet, options: TableOptions) -> tuple[str, ...]:
    return test_set.spread(options.latency_sentences).sources


def _latency(
    translator: Translator,
    test_set: ParallelSet,
    selectors: Mapping[str, Selector],
    options: TableOptions,
    done: Step,
) -> dict[str, Latency]:
    lines = _timed(test_set, options)
    if not lines:
        return {}
    probe = Probe.of_text(test_set.name, translator.tokenizers, lines, {})
    return measure_latency(translator.engine, probe.src_ids, selectors, options.search, done)


def _quality(
    translator: Translator,
    test_set: ParallelSet,
    texts: Mapping[str, Sequence[str]],
    options: TableOptions,
) -> dict[str, list[Score]]:
    scores = compared(texts, test_set.references, translator.languages[1], options.resamples)
    if options.comet is not None:
        for name, lines in texts.items():
            scores[name].append(options.comet.score(test_set.sources, lines, test_set.references))
    if options.forced is not None:
        judged = options.forced.compared(test_set.sources, texts, options.resamples)
        for name, score in judged.items():
            scores[name].append(score)
    return scores
