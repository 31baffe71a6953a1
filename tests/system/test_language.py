"""The generated language is what the system test takes it for."""

from collections import Counter
from dataclasses import replace

import pytest
from language import Clause, Language, Phrase

LANGUAGE = Language(seed=5)
NOUNS = list(LANGUAGE.nouns)
PAIRS = LANGUAGE.pairs(3000, seed=5)


def test_the_same_from_the_same_seed() -> None:
    assert Language(seed=5).pairs(50, seed=5) == PAIRS[:50]
    assert Language(seed=5).pairs(50, seed=6) != PAIRS[:50]
    assert Language(seed=6).pairs(50, seed=5) != PAIRS[:50]


def test_sentences_are_different() -> None:
    assert len({pair.source_text for pair in PAIRS}) == len(PAIRS)


def test_links_lie_inside_and_reach_every_target_word() -> None:
    for pair in PAIRS:
        assert all(s < len(pair.source) and t < len(pair.target) for s, t in pair.links)
        assert {t for _, t in pair.links} == set(range(len(pair.target)))


def test_words_of_idioms_translate_nothing_else() -> None:
    idiom_words = [word for idiom in LANGUAGE.idioms.values() for word in idiom.words]
    assert len(LANGUAGE.idioms) == 256
    assert len(set(idiom_words)) == len(idiom_words)
    for pair in PAIRS:
        assert set(pair.target) & set(idiom_words) == set(pair.idiom_words)


def test_parts_of_idioms_are_common_and_mean_themselves_elsewhere() -> None:
    literal = Counter(word for pair in PAIRS if not pair.idiom_words for word in pair.source)
    idiomatic = Counter(word for pair in PAIRS if pair.idiom_words for word in pair.source)
    for word in (*LANGUAGE.idiom_verbs, *LANGUAGE.idiom_nouns):
        assert literal[word] > 10
        assert idiomatic[word] > 10


@pytest.mark.parametrize("preposition", ["", "na"])
def test_an_idiom_is_one_in_its_context_alone(preposition: str) -> None:
    (verb, noun), idiom = next(
        (parts, idiom)
        for parts, idiom in LANGUAGE.idioms.items()
        if idiom.preposition == preposition
    )
    subject = Phrase(NOUNS[-1])
    clause = Clause(subject, verb, "ka", False, preposition, Phrase(noun))
    pair = LANGUAGE.say(clause)
    start = LANGUAGE.nouns[subject.noun]
    assert pair.target == (start, *idiom.words, LANGUAGE.light_verb + "t")
    assert {s for s, t in pair.links if t == 1} >= {
        pair.source.index(verb),
        pair.source.index(noun),
    }
    literal_noun, literal_verb = LANGUAGE.nouns[noun], LANGUAGE.verbs[verb] + "t"
    plural = LANGUAGE.say(replace(clause, object=Phrase(noun, plural=True)))
    assert plural.idiom_words == ()
    assert plural.target[0] == start
    assert plural.target[1].startswith(literal_noun + "i")
    assert plural.target[2] == literal_verb
    other = LANGUAGE.say(replace(clause, preposition="lo"))
    assert other.target == (start, literal_noun + "su", literal_verb)


def test_reordering_and_agreement() -> None:
    nouns, verbs = NOUNS, list(LANGUAGE.verbs)
    adjective = next(iter(LANGUAGE.adjectives))
    adverb = next(iter(LANGUAGE.adverbs))
    pair = LANGUAGE.say(
        Clause(
            subject=Phrase(nouns[-1], adjective, plural=True),
            verb=verbs[-1],
            tense="du",
            negated=True,
            preposition="",
            object=Phrase(nouns[-2]),
            adverb=adverb,
            place=("ti", Phrase(nouns[-3])),
        )
    )
    assert pair.source == (
        *(adverb, "mo", adjective, nouns[-1], "du", "ne", verbs[-1]),
        *(nouns[-2], "ti", nouns[-3]),
    )
    assert pair.target == (
        LANGUAGE.nouns[nouns[-1]] + "i",
        LANGUAGE.adjectives[adjective] + "i",
        LANGUAGE.nouns[nouns[-3]] + "ki",
        LANGUAGE.nouns[nouns[-2]] + "n",
        LANGUAGE.adverbs[adverb],
        LANGUAGE.verbs[verbs[-1]] + "voze",
    )
    assert pair.links == ((3, 0), (2, 1), (9, 2), (7, 3), (0, 4), (6, 5))
