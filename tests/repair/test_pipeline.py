"""Lines through steps: in which order, past which steps, and again."""

from dataclasses import dataclass, replace
from typing import ClassVar

from sieve.repair.draft import Draft
from sieve.repair.pipeline import Rounds
from sieve.repair.step import Line, Retry, Step, Trait


@dataclass(frozen=True)
class Marks(Step):
    """Adds a letter on the way in and one on the way out."""

    letter: str
    unsuited: ClassVar[frozenset[Trait]] = frozenset(("samples",))

    def before(self, line: Line) -> tuple[Line, str]:
        return replace(line, text=line.text + self.letter), line.text

    def after(self, line: Line, draft: Draft, state: str) -> Draft:
        assert state == line.text
        end = len(draft.text)
        return draft.replaced(end, end, self.letter.upper(), "marks")


@dataclass(frozen=True)
class Again(Step):
    """Asks once more with another line, until the draft ends as it wants."""

    def after(self, line: Line, draft: Draft, state: None) -> Draft | Retry:
        if draft.text.startswith("good"):
            return draft
        again = replace(line, text=line.text + "!")
        return Retry(
            again, lambda answer: draft if answer is None else self.after(again, answer, None)
        )


def answered(rounds: Rounds, answers: dict[str, str | None]) -> list[list[str]]:
    asked = []
    while queries := rounds.queries:
        asked.append([line.text for line in queries])
        texts = [answers.get(line.text, line.text) for line in queries]
        rounds.answer([[] if text is None else [Draft(text)] for text in texts])
    return asked


def texts_of(rounds: Rounds) -> list[list[str]]:
    return [[draft.text for draft in drafts] for drafts in rounds.drafts]


def test_out_is_the_way_in_turned_round() -> None:
    rounds = Rounds([Line("x"), Line("y", frozenset(["samples"]))], (Marks("a"), Marks("b")))
    assert answered(rounds, {}) == [["xab", "y"]]
    assert texts_of(rounds) == [["xabBA"], ["y"]]


def test_a_retry_goes_through_the_steps_inside() -> None:
    lines = [Line("p"), Line("q"), Line("r")]
    rounds = Rounds(lines, (Marks("a"), Again(), Marks("b")))
    answers = {"pa!b": "good", "qab": "good one", "rab": "bad", "ra!b": None}
    assert answered(rounds, answers) == [["pab", "qab", "rab"], ["pa!b", "ra!b"]]
    assert texts_of(rounds) == [["goodBA"], ["good oneBA"], ["badBA"]]


def test_nothing_to_translate_is_asked_of_no_model() -> None:
    rounds = Rounds([Line("")], ())
    assert rounds.queries == []
    assert texts_of(rounds) == [[""]]
    assert Rounds([], ()).queries == []
