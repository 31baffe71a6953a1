"""Which repairs there are for which languages, and what they need from a model's directory.

A pair without rules of its own gets the steps that hold for all languages.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sieve.files import Place
from sieve.repair.clock import Clock, Hours
from sieve.repair.dates import Dates
from sieve.repair.glossary import Glossary
from sieve.repair.literals import Literals
from sieve.repair.lost_words import LostWords
from sieve.repair.names import Names, NameSpelling
from sieve.repair.rules import english, german
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
    repairs = repairs_for(languages, Names.open(directory))
    if not can_lack(tokenizers.source):
        return repairs
    letters = UnknownLetters(tokenizers.source, tokenizers.target, script_of(languages[0]))
    return Repairs((*repairs.steps, letters), repairs.surface)


def repairs_for(languages: tuple[str, str], names: Names = NO_NAMES) -> Repairs:
    """The repairs of a pair of languages, with what is known about its names."""
    source, target = languages
    if not source:
        return NO_REPAIRS
    script = script_of(source)
    surface = Untranslatable(script), Surface(script)
    clock = [Clock(HOURS[source], HOURS[target])] if _differ(source, target) else []
    spelling = LostWords(names), NameSpelling(names), Dates()
    return Repairs((*spelling, *clock, Literals(), *surface), surface)


def _differ(source: str, target: str) -> bool:
    return source != target and source in HOURS and target in HOURS
