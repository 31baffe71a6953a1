"""Which repairs there are for which languages, and what they need from a model's directory.

A pair without rules of its own gets the steps that hold for all languages.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sieve.files import Place
from sieve.repair.capitals import ShoutedNames
from sieve.repair.clock import Clock, Hours
from sieve.repair.garbage import Garbage
from sieve.repair.glossary import Glossary
from sieve.repair.lost_words import LostWords
from sieve.repair.masks.masking import Masking
from sieve.repair.names import Names, NameSpelling
from sieve.repair.numbers.kept_numbers import KeptNumbers
from sieve.repair.numbers.notation import NOTATIONS
from sieve.repair.numbers.number_reader import NumberReader
from sieve.repair.rules import english, german
from sieve.repair.rules.spoken import SPOKEN
from sieve.repair.step import Step
from sieve.repair.surface import Surface, Untranslatable, script_of
from sieve.repair.terms import Terms
from sieve.repair.unknown.unknown_letters import UnknownLetters, can_lack
from sieve.tokenize.tokenizer import Tokenizers

HOURS: Mapping[str, Hours] = {"en": english, "de": german}
"""Languages whose times of day are known."""


@dataclass(frozen=True)
class Repairs:
    """The steps of a model, the outermost first."""

    steps: tuple[Step, ...] = ()
    surface: tuple[Untranslatable, Surface] | None = None
    """Those of them that decide what a model reads."""

    def with_glossary(self, glossary: Glossary, forced: bool, tokenizers: Tokenizers) -> "Repairs":
        """The same around which a glossary is heeded.

        Args:
            glossary: What to look for.
            forced: Whether its targets must appear, or may.
            tokenizers: The model's.
        """
        terms = Terms(glossary, forced, tokenizers, self.surface)
        return Repairs((terms, *self.steps), self.surface)


NO_REPAIRS = Repairs()
"""Nothing but the model."""
NO_NAMES = Names()


def open_repairs(directory: Place, languages: tuple[str, str], tokenizers: Tokenizers) -> Repairs:
    """The repairs of a model directory; those of no language where its source is not known."""
    repairs = repairs_for(languages, tokenizers, Names.open(directory))
    if not can_lack(tokenizers.source):
        return repairs
    letters = UnknownLetters(tokenizers.source, tokenizers.target, script_of(languages[0]))
    names = [ShoutedNames()] if repairs.surface is not None else []
    return Repairs((*names, *repairs.steps, letters), repairs.surface)


def repairs_for(
    languages: tuple[str, str], tokenizers: Tokenizers, names: Names = NO_NAMES
) -> Repairs:
    """The repairs of a pair of languages, with what is known about its names."""
    source, target = languages
    if not source:
        return NO_REPAIRS
    script = script_of(source)
    surface = Untranslatable(script), Surface(script)
    masking = Masking(script, tokenizers)
    clock = [Clock(HOURS[source], HOURS[target])] if _differ(source, target) else []
    garbage = Garbage(languages, script_of(target))
    numbers = KeptNumbers(_reader(source), _reader(target), tokenizers)
    spelling = LostWords(names), NameSpelling(names)
    steps = masking, *clock, numbers, garbage, *spelling, *surface
    return Repairs(steps, surface)


def _reader(language: str) -> NumberReader:
    language = re.split("[-_]", language.lower())[0]
    return NumberReader(NOTATIONS.get(language), SPOKEN.get(language))


def _differ(source: str, target: str) -> bool:
    return source != target and source in HOURS and target in HOURS
