"""Curves of a head and a lexicon on the sets that a script was given."""

import argparse
from pathlib import Path

from sieve.evaluate.measure.curve import Curve, measure_curves
from sieve.evaluate.measure.idioms import read_idioms
from sieve.evaluate.measure.probes import Probe
from sieve.evaluate.measure.sets import read_set
from sieve.selection.lexicon import Lexicon
from sieve.translate.load import load
from sieve.translate.translator import Translator


def add_sets(parser: argparse.ArgumentParser) -> None:
    """The options that name sets, and how they are measured."""
    parser.add_argument("--idioms", nargs="+", default=[], help="as in sieve evaluate")
    parser.add_argument("--test", nargs="+", default=[], help="as in sieve evaluate")
    parser.add_argument("--sentences", type=int, help="of each set, for a trial")
    parser.add_argument("--threads", type=int)


def probes(translator: Translator, args: argparse.Namespace) -> list[Probe]:
    """What is looked for: idiom sets in all scopes, test sets in sentence scope."""
    words, languages = translator.tokenizers, translator.languages
    found = [
        probe
        for text in args.idioms
        for probe in read_idioms(text, languages).first(args.sentences).probes(words)
    ]
    for text in args.test:
        one = read_set(text, languages).first(args.sentences)
        found.append(Probe.of_text(one.name, words, one.sources, {"sentence": one.references}))
    return found


def measured(model: Path, lexicon: Path, args: argparse.Namespace) -> list[Curve]:
    """Curves of a head and a lexicon on all sets."""
    translator = load(model, threads=args.threads)
    opened = Lexicon.open(lexicon)
    return [
        curve
        for probe in probes(translator, args)
        for curve in measure_curves(translator.engine, probe, opened)
    ]
