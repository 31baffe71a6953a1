"""What the training text says about names, for a model of one direction.

Writes names.safetensors into the model's directory (see sieve.repair.names) where both languages
have the same letters. An English word is one to be translated if three lines or more have it in
lower case, or capitalised and less than half of them have it in German, too; a capitalised German
word is a name if three lines or more have it and three of four have it in English, too.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.recipe import Recipe
from sieve.data.reading import read_lines
from sieve.errors import InputError
from sieve.log import progress
from sieve.repair.names import WORD, Names
from sieve.repair.surface import script_of
from sieve.repair.word_set import WordSet

LINES = 3  # in which a word must occur to count
TAKEN_OVER = 0.75  # share of the translations that have a name, too
BITS = 12  # a word: one of 300 others is taken for one that is there
COPIED_BITS = 20  # most German nouns are asked for: errors must be rare
CAPITALISES_NOUNS = ("de",)


@dataclass
class Counts:
    """How many lines have a word, and how many of their translations have it, too."""

    seen: Counter[str] = field(default_factory=Counter)
    copied: Counter[str] = field(default_factory=Counter)

    def add(self, words: set[str], others: set[str]) -> None:
        """The words of a line and of its translation."""
        self.seen.update(words)
        self.copied.update(words & others)

    def translated(self) -> set[str]:
        """Words to be translated, in lower case."""
        return {
            word.lower()
            for word, lines in self.seen.items()
            if lines >= LINES and (word[0].islower() or 2 * self.copied[word] < lines)
        }

    def known(self) -> set[str]:
        """All words, in lower case."""
        return {word.lower() for word, lines in self.seen.items() if lines >= LINES}

    def names(self) -> set[str]:
        """Capitalised words that are taken over."""
        return {
            word
            for word, lines in self.seen.items()
            if lines >= LINES and word[0].isupper() and self.copied[word] >= TAKEN_OVER * lines
        }


def count(pairs: Iterable[tuple[str, str]]) -> tuple[Counts, Counts]:
    """The words of both sides."""
    counts = (Counts(), Counts())
    for sides in pairs:
        first, second = (set(WORD.findall(line)) for line in sides)
        counts[0].add(first, second)
        counts[1].add(second, first)
    return counts


def names_of(source: str, target: str, counts: dict[str, Counts]) -> Names:
    """What a model of one direction has to know."""
    if source not in CAPITALISES_NOUNS:
        return Names(translated_source=WordSet.of(counts[source].translated(), BITS))
    return Names(
        known_target=WordSet.of(counts[target].known(), BITS),
        copied_source=WordSet.of(counts[source].names(), COPIED_BITS),
    )


def paired_lines(collected: Path, languages: Sequence[str]) -> Iterator[tuple[str, str]]:
    files = sorted(collected.glob(f"part?/*.{languages[0]}.bz2"))
    if not files:
        raise InputError(
            f"{collected}: no part1/GROUP.{languages[0]}.bz2 in it; run 'collect' first"
        )
    for path in progress(files, unit=" files", label="names"):
        other = path.with_name(f"{path.name.split('.')[0]}.{languages[1]}.bz2")
        if other.exists():  # not borrowed text of one language
            yield from zip(read_lines(path), read_lines(other), strict=True)


def write_names(pair: Recipe, collected: Path, model: Path, direction: tuple[str, str]) -> None:
    """Names for a model that translates one way, unless its languages have other letters."""
    if len({script_of(language) for language in pair.languages}) == 1:
        counts = count(paired_lines(collected, pair.languages))
        by_language = dict(zip(pair.languages, counts, strict=True))
        names_of(*direction, by_language).save(model)
