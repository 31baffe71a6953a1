"""Short lines in capitals: which reading is taken."""

import pytest

from sieve.engines.engine import Hypothesis
from sieve.repair.capitals import ShoutedNames
from sieve.repair.draft import Draft
from sieve.repair.pipeline import Rounds
from sieve.repair.step import Line, Trait


def repaired(line: str, *answers: tuple[str, float], trait: Trait | None = None) -> tuple[str, int]:
    """The text, and how often the model was asked; an answer is a text and its mean."""
    rounds = Rounds([Line(line, frozenset([trait] if trait else []))], (ShoutedNames(),))
    asked = 0
    while rounds.queries:
        text, mean = answers[asked]
        asked += 1
        rounds.answer([[Draft(text, (), Hypothesis((5, 6), (mean, mean, mean), 9))]])
    return rounds.drafts[0][0].text, asked


def test_the_reading_that_the_model_is_surer_of_is_taken() -> None:
    assert repaired("NEW YORK", ("NOVO YORK", -0.3), ("Nova York", -0.1)) == ("NOVA YORK", 2)
    assert repaired("FOR SALE", ("À VENDA", -0.1), ("Por Venda", -0.3)) == ("À VENDA", 2)
    # hardly surer is not surer
    assert repaired("FOR SALE", ("À VENDA", -0.14), ("Por Venda", -0.1)) == ("À VENDA", 2)


@pytest.mark.parametrize("line", ["THE END OF WAR", "USA", "New York", "12 345", ""])
def test_other_lines_are_asked_for_once(line: str) -> None:
    assert repaired(line, ("x", -1.0))[1] == bool(line)


def test_what_is_as_given_stays_as_given() -> None:
    assert repaired("IPHONE X", ("?", -1.0), ("iPhone X", -0.1)) == ("IPHONE X", 2)


def test_lines_with_wishes_pass_by() -> None:
    assert repaired("NEW YORK", ("x", -0.3), trait="alignment") == ("x", 1)
