"""Characters that a vocabulary lacks: what is read instead, and where they are put back."""

from collections.abc import Callable
from typing import Any

import pytest
from whole_words import WholeWords

from sieve.engines.engine import Hypothesis
from sieve.repair.draft import Draft
from sieve.repair.pipeline import Rounds
from sieve.repair.step import Line
from sieve.repair.unknown.folding import applied, fold
from sieve.repair.unknown.unknown_letters import UnknownLetters, can_lack

PLAIN = {*map(chr, range(0x20, 0x7F)), "é"} - {"#", "@", "£"}


class Letters(WholeWords):
    """A vocabulary of words as they come, whose characters must be plain: one piece a word."""

    def __init__(self, plain: set[str]) -> None:
        super().__init__()
        self._plain = plain
        self._words.append("▁")

    def normalize(self, text: str) -> str:
        return text

    def _id(self, word: str) -> int:
        return super()._id(word) if self._plain.issuperset(word) else 1


LETTERS = Letters(PLAIN)
EVERY = Letters({chr(c) for c in range(0x20, 0x110000) if not 0xD800 <= c < 0xE000})


def knows(text: str) -> bool:
    return PLAIN.issuperset(text)


def translated(
    line: str, model: Callable[[list[str]], tuple[list[str], list[int]]], *traits: Any
) -> tuple[str, Draft, str]:
    """What was read, the draft, and its text; the model writes words and where they came from."""
    rounds = Rounds([Line(line, frozenset(traits))], (UnknownLetters(LETTERS, LETTERS, "LATIN"),))
    [query] = rounds.queries
    words, positions = model(query.text.split())
    ids = tuple(LETTERS.encode([" ".join(words)])[0])
    written = Hypothesis(ids, (-0.5,) * len(ids), 9, tuple(positions))
    rounds.answer([[Draft(" ".join(words), (), written)]])
    [[draft]] = rounds.drafts
    return query.text, draft, draft.text


def letters(text: str) -> tuple[int, ...]:
    return tuple(LETTERS.encode([text])[0])


def copied(words: list[str]) -> tuple[list[str], list[int]]:
    return words, list(range(len(words)))


def upside_down(words: list[str]) -> tuple[list[str], list[int]]:
    return words[::-1], list(range(len(words)))[::-1]


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("Müller’s café", "Muller's café"),  # é is known
        ("Straße – “Łódź”", 'Strasse - "Lodz"'),
        ("£120 for #MeToo", "GBP 120 for MeToo"),
        ("to jo@x.org now", "to Kim now"),
        ("Владимир and Kim saw 你好", "Smith and Kim saw Tanaka"),
        ("a 👨‍👩‍👧 ❤️ b", "a   b"),
        ("日本のkim", "Kim kim".replace(" ", "")),
        ("14½", "14"),
    ],
)
def test_what_is_read(line: str, read: str) -> None:
    assert applied(line, fold(line, knows)) == read


def test_a_decomposed_letter_that_is_known_is_left_alone() -> None:
    assert fold("cafe\u0301", lambda text: text != "\u0301") == ()


def test_a_line_that_is_known_is_not_touched() -> None:
    read, draft, _ = translated("Peter's café", lambda words: (["x"], [0]))
    assert read == "Peter's café"
    assert draft.edits == () and draft.hypothesis is not None
    assert draft.hypothesis.positions == (0,)


def test_words_take_the_place_of_what_was_read() -> None:
    read, draft, text = translated("Müller met Jürgen – Владимир too", upside_down)
    assert read == "Muller met Jurgen - Kim too"
    assert text == "too Владимир – Jürgen met Müller"
    assert {edit.step for edit in draft.edits} == {"unknown letters"}
    assert draft.hypothesis is not None and draft.hypothesis.positions == ()


def test_a_name_that_was_changed_is_known_by_its_alignment() -> None:
    _, _, text = translated("so Владимир came", lambda words: (["veio", "Pedro", "so"], [2, 1, 0]))
    assert text == "veio Владимир so"


def test_a_name_that_was_lost_follows_what_was_before_it() -> None:
    _, _, text = translated("so Владимир came", lambda words: (["so,", "veio"], [0, 2]))
    assert text == "so Владимир, veio"


def test_a_word_that_was_translated_stays_translated() -> None:
    assert translated("naïve", lambda words: (["ingenuo"], [0]))[2] == "ingenuo"


def test_emoji_follow_the_word_before_them() -> None:
    assert translated("I ate pizza 🍕 . 😀 now", copied)[2] == "I ate pizza 🍕 . 😀 now"
    assert translated("big pizza 🍕, yes", copied)[2] == "big pizza 🍕, yes"
    assert translated("😀 now", copied)[2] == "😀 now"
    assert translated("x (🍕)", upside_down)[2].count("🍕") == 1


def test_money_whose_number_was_written_in_another_way() -> None:
    _, _, text = translated("it cost £1.2bn", lambda words: (["custou", "GBP", "1,2"], [1, 2, 3]))
    assert text == "custou £1,2"


def test_quotation_marks_come_back_in_order() -> None:
    assert translated("“no” – “yes”", copied)[2] == "“no” – “yes”"
    # one that the line had itself: nobody knows which is which
    assert translated('“no" yes', copied)[2] == '"no" yes'


def test_positions_are_those_of_the_line_as_it_was_given() -> None:
    line = "£5 😀 for Müller"  # words 0 to 3; read as: GBP 5 for Muller
    read, draft, text = translated(line, copied, "alignment")
    assert read == "GBP 5 for Muller" and text == "£5 😀 for Müller"
    assert draft.hypothesis is not None
    assert draft.hypothesis.positions == (0, 0, 2, 3)


def test_a_given_beginning_comes_back() -> None:
    steps = (UnknownLetters(LETTERS, LETTERS, "LATIN"),)
    rounds = Rounds([Line("a", prefix="O Müller"), Line("b 😀", prefix="x")], steps)
    assert [(q.text, q.prefix) for q in rounds.queries] == [("a", "O Muller"), ("b", "x")]
    draft = Draft("O Muller veio", (), Hypothesis(letters("O Muller veio"), (), 9))
    rounds.answer([[draft], [Draft("x y", (), Hypothesis(letters("x y"), (), 9, (0, 1)))]])
    assert [each[0].text for each in rounds.drafts] == ["O Müller veio", "x 😀 y"]


def test_a_line_of_nothing_else_is_given_back() -> None:
    rounds = Rounds([Line("😀 😃")], (UnknownLetters(LETTERS, LETTERS, None),))
    assert rounds.queries == []
    assert [[draft.text for draft in drafts] for drafts in rounds.drafts] == [["😀 😃"]]


def test_other_scripts_pass_a_model_by_that_has_their_letters() -> None:
    step = UnknownLetters(EVERY, EVERY, "LATIN")
    assert step.before(Line("the word привет 😀 here"))[0].text == "the word Kim here"
    assert step.before(Line("π is 3 at 20 °C – ok™"))[1] is None
    assert UnknownLetters(EVERY, EVERY, None).before(Line("привет"))[1] is None


def test_who_has_bytes_lacks_nothing() -> None:
    assert can_lack(LETTERS)
    assert not can_lack(EVERY)


def test_whatever_the_model_writes_the_text_comes_out() -> None:
    """Nothing raises and edits fit together, however a model misplaces words."""
    import random

    words = ["Müller", "“ja”", "😀", "Владимир,", "£5", "ok.", "(猫)", "–", "#x", "a"]
    for seed in range(300):
        rng = random.Random(seed)
        line = " ".join(rng.choices(words, k=rng.randrange(1, 9)))

        def model(read: list[str], rng: random.Random = rng) -> tuple[list[str], list[int]]:
            places = [rng.randrange(len(read) + 2) for _ in range(rng.randrange(1, 9))]
            return [rng.choice([*read, "x", "GBP", '"']) for _ in places], places

        rounds = Rounds([Line(line)], (UnknownLetters(LETTERS, LETTERS, "LATIN"),))
        for query in rounds.queries:
            written, positions = model(query.text.split() or ["x"])
            ids = tuple(LETTERS.encode([" ".join(written)])[0])
            hypothesis = Hypothesis(ids, (), 9, tuple(positions))
            rounds.answer([[Draft(" ".join(written), (), hypothesis)]])
        [[draft]] = rounds.drafts
        text = "" if draft.hypothesis is None else LETTERS.decode([draft.hypothesis.tokens])[0]
        for edit in draft.edits:
            text = text[: edit.start] + edit.text + text[edit.end :]
        assert text == draft.text
        assert draft.text.count("😀") >= 1 or "😀" not in line
