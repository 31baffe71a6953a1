"""A generated language pair with reordering, inflection and idioms; the same from the same seed.

The source marks number, tense and negation with particles and puts the verb in the middle; the
target marks them, and case, with suffixes, puts adjectives behind nouns and the verb at the end.

Idioms are a verb and a noun, some with a preposition between, all of them ordinary words that also
occur freely with their literal translations. An idiom's translation shares no word with those.
The same verb and noun mean the literal thing as soon as the preposition differs, or the noun has
an adjective or a plural: whether it is an idiom shows only in context.
"""

import itertools
import random
from dataclasses import dataclass

TENSES = {"": "", "ka": "t", "du": "v"}  # particle → suffix
NEGATION = "ne"
PLURAL = "mo"
PREPOSITIONS = {"na": "ra", "lo": "su", "ti": "ki"}  # → suffix of the case it governs
OBJECT_CASE = "n"

NOUNS, VERBS, ADJECTIVES, ADVERBS = 100, 32, 50, 25
IDIOM_NOUNS = IDIOM_VERBS = (
    16  # every combination of them is an idiom, with one preposition or none
)


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation, in words."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    """Gold alignment: source and target positions of words; particles have none."""
    idiom_words: tuple[str, ...] = ()
    """The words of the target that translate an idiom and nothing else."""

    @property
    def source_text(self) -> str:
        """The source as a line of text."""
        return " ".join(self.source)

    @property
    def target_text(self) -> str:
        """The target as a line of text."""
        return " ".join(self.target)


@dataclass(frozen=True)
class Idiom:
    """What makes a verb and a noun an idiom, and what it means."""

    preposition: str
    """Between verb and noun; empty for none."""
    words: tuple[str, ...]
    """One or two target words that occur in no other translation; a light verb follows them."""


@dataclass(frozen=True)
class Phrase:
    """A noun phrase to be said in both languages."""

    noun: str
    adjective: str = ""
    plural: bool = False


@dataclass(frozen=True)
class Clause:
    """What a sentence says."""

    subject: Phrase
    verb: str
    tense: str
    negated: bool
    preposition: str
    object: Phrase
    adverb: str = ""
    place: tuple[str, Phrase] | None = None


class Language:
    """The words of both languages and the rules between them."""

    def __init__(self, seed: int = 1) -> None:
        rng = random.Random(f"words {seed}")
        particles = {*TENSES, NEGATION, PLURAL, *PREPOSITIONS}
        source = _words(rng, "bdgklmnprstv", "aeiou", particles)
        target = _words(rng, "fhjkmnprtwz", "aeiouy", set())
        self.nouns = dict(itertools.islice(zip(source, target, strict=False), NOUNS))
        self.verbs = dict(itertools.islice(zip(source, target, strict=False), VERBS))
        self.adjectives = dict(itertools.islice(zip(source, target, strict=False), ADJECTIVES))
        self.adverbs = dict(itertools.islice(zip(source, target, strict=False), ADVERBS))
        self.light_verb = next(target)
        self.idiom_nouns = list(self.nouns)[:IDIOM_NOUNS]
        self.idiom_verbs = list(self.verbs)[:IDIOM_VERBS]
        self.idioms = {
            (verb, noun): Idiom(
                preposition=rng.choice(["", "", "", *PREPOSITIONS]),
                words=tuple(next(target) + "x" for _ in range(rng.choice([1, 2]))),
            )
            for verb, noun in itertools.product(self.idiom_verbs, self.idiom_nouns)
        }

    def pairs(self, number: int, seed: int) -> list[Pair]:
        """That many different sentences with their translations."""
        rng = random.Random(f"sentences {seed}")
        found: dict[str, Pair] = {}
        while len(found) < number:
            pair = self.say(self._clause(rng))
            found.setdefault(pair.source_text, pair)
        return list(found.values())

    def say(self, clause: Clause) -> Pair:
        """The clause in both languages, with the gold alignment."""
        writer = _Writer()
        writer.source(clause.adverb, "adverb")
        self._source_phrase(writer, clause.subject, "subject")
        writer.source(clause.tense)
        writer.source(NEGATION if clause.negated else "")
        writer.source(clause.verb, "verb")
        writer.source(clause.preposition, "preposition")
        self._source_phrase(writer, clause.object, "object")
        if clause.place:
            writer.source(clause.place[0])
            self._source_phrase(writer, clause.place[1], "place")

        self._target_phrase(writer, clause.subject, "", "subject")
        if clause.place:
            preposition, phrase = clause.place
            self._target_phrase(writer, phrase, PREPOSITIONS[preposition], "place")
        ending = TENSES[clause.tense] + ("o" if clause.subject.plural else "")
        ending += "ze" if clause.negated else ""
        idiom = self._idiom(clause)
        if idiom is None:
            case = PREPOSITIONS.get(clause.preposition, OBJECT_CASE)
            self._target_phrase(writer, clause.object, case, "object")
            writer.target(self.adverbs.get(clause.adverb, ""), "adverb")
            writer.target(self.verbs[clause.verb] + ending, "verb")
            return writer.pair(())
        parts = ("verb", "object", "preposition")  # each is linked to each word of the meaning
        writer.target(self.adverbs.get(clause.adverb, ""), "adverb")
        for word in (*idiom.words, self.light_verb + ending):
            writer.target(word, *parts)
        return writer.pair(idiom.words)

    def _idiom(self, clause: Clause) -> Idiom | None:
        idiom = self.idioms.get((clause.verb, clause.object.noun))
        bare = clause.object == Phrase(clause.object.noun)
        return idiom if idiom and bare and idiom.preposition == clause.preposition else None

    def _clause(self, rng: random.Random) -> Clause:
        if rng.random() < 0.4:  # an idiom
            verb, noun = rng.choice(self.idiom_verbs), rng.choice(self.idiom_nouns)
            preposition, phrase = self.idioms[verb, noun].preposition, Phrase(noun)
        else:
            verbs = self.idiom_verbs if rng.random() < 0.4 else list(self.verbs)
            verb, phrase = rng.choice(verbs), self._phrase(rng)
            preposition = rng.choice(["", "", *PREPOSITIONS])
        has_place, has_adverb = rng.random() < 0.3, rng.random() < 0.3
        return Clause(
            subject=self._phrase(rng),
            verb=verb,
            tense=rng.choice(list(TENSES)),
            negated=rng.random() < 0.3,
            preposition=preposition,
            object=phrase,
            adverb=rng.choice(list(self.adverbs)) if has_adverb else "",
            place=(rng.choice(list(PREPOSITIONS)), self._phrase(rng)) if has_place else None,
        )

    def _phrase(self, rng: random.Random) -> Phrase:
        nouns = self.idiom_nouns if rng.random() < 0.25 else list(self.nouns)
        adjective = rng.choice(list(self.adjectives)) if rng.random() < 0.3 else ""
        return Phrase(rng.choice(nouns), adjective, rng.random() < 0.4)

    def _source_phrase(self, writer: "_Writer", phrase: Phrase, role: str) -> None:
        writer.source(PLURAL if phrase.plural else "")
        writer.source(phrase.adjective, role + " adjective")
        writer.source(phrase.noun, role)

    def _target_phrase(self, writer: "_Writer", phrase: Phrase, case: str, role: str) -> None:
        number = "i" if phrase.plural else ""
        writer.target(self.nouns[phrase.noun] + number + case, role)
        if phrase.adjective:
            writer.target(self.adjectives[phrase.adjective] + number, role + " adjective")


class _Writer:
    """Collects the words of both sides; words of the same role are linked."""

    def __init__(self) -> None:
        self._source: list[str] = []
        self._target: list[str] = []
        self._links: list[tuple[int, int]] = []
        self._roles: dict[str, int] = {}

    def source(self, word: str, role: str = "") -> None:
        """Adds a source word, if there is one."""
        if word:
            if role:
                self._roles[role] = len(self._source)
            self._source.append(word)

    def target(self, word: str, *roles: str) -> None:
        """Adds a target word, if there is one, linked to the source words of these roles."""
        if word:
            position = len(self._target)
            self._links += [(self._roles[r], position) for r in roles if r in self._roles]
            self._target.append(word)

    def pair(self, idiom_words: tuple[str, ...]) -> Pair:
        """What was written."""
        return Pair(tuple(self._source), tuple(self._target), tuple(self._links), idiom_words)


def _words(
    rng: random.Random, consonants: str, vowels: str, taken: set[str]
) -> "itertools.chain[str]":
    """All words of two syllables in random order, but for those taken."""
    syllables = [c + v for c in consonants for v in vowels]
    words = [a + b for a in syllables for b in syllables if a != b and a + b not in taken]
    rng.shuffle(words)
    return itertools.chain(words)
