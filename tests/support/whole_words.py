"""A tokenizer of whole words, and models that are functions: for what lies around a model."""

from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Literal, get_args

from hypothesis import strategies as st

from sieve.engines.engine import Hypothesis
from sieve.repair.draft import Draft
from sieve.repair.pipeline import Rounds
from sieve.repair.step import Line, Step, Trait
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import Specials


class WholeWords:
    """Every word is a piece, and gets an id when it is first met."""

    specials = Specials(pad=None, start=None, eos=0, unk=1)
    tags: frozenset[str] = frozenset()
    vocab_size = 0
    fingerprint = ""

    def __init__(self) -> None:
        self._words = ["</s>", "<unk>"]

    def normalize(self, text: str) -> str:
        return " ".join(text.split())

    def encode(self, lines: Sequence[str]) -> list[list[int]]:
        return [[self._id(word) for word in line.split()] for line in lines]

    def _id(self, word: str) -> int:
        if word not in self._words:
            self._words.append(word)
        return self._words.index(word)

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        return [" ".join(self._words[index] for index in ids) for ids in sentences]

    def piece(self, index: int) -> str:
        return self._words[index]

    def piece_id(self, piece: str) -> int | None:
        return self._words.index(piece) if piece in self._words else None

    def save(self, directory: Path, stem: str) -> dict[str, Any]:
        raise NotImplementedError


WORDS = WholeWords()
WHOLE_WORDS = Tokenizers(WORDS, WORDS)
Model = Callable[[str], tuple[str, Sequence[int]] | str | None]
"""Writes a text; with where each of its words came from, or word by word; or nothing."""


def written(text: str, positions: Sequence[int] | None = None) -> Draft:
    """A model's own draft; by default each word came from the source word in its place."""
    ids = tuple(WORDS.encode([text])[0])
    places = tuple(range(len(ids)) if positions is None else positions)
    return Draft(text, (), Hypothesis(ids, (-0.5,) * (len(ids) + 1), 9, places))


Fault = Literal["drops", "doubles", "alters"]
FAULTS = st.lists(st.sampled_from((None, *get_args(Fault))), min_size=1, max_size=9)
"""What hypothesis draws for `faulty`."""


def faulty(faults: Sequence[Fault | None]) -> Model:
    """A model that copies words but for those that it drops, doubles or alters, in turns.

    Args:
        faults: What it does to one word after the other, over and over, in answer after answer.
    """
    turns = cycle(faults)

    def model(line: str) -> tuple[str, list[int]]:
        words, positions = list[str](), list[int]()
        for position, word in enumerate(line.split()):
            fault = next(turns)
            altered = f"{word[:-1]}{'x' if word[-1] != 'x' else 'y'}"
            answer = {"drops": [], "doubles": [word, word], "alters": [altered], None: [word]}[
                fault
            ]
            words += answer
            positions += [position] * len(answer)
        return " ".join(words), positions

    return model


def repaired(
    line: str, steps: Sequence[Step], model: Model, *traits: Trait, prefix: str = ""
) -> tuple[Draft, list[str]]:
    """What comes of a line, and what the model was asked."""
    rounds = Rounds([Line(line, frozenset(traits), prefix)], steps)
    asked = []
    while queries := rounds.queries:
        [query] = queries
        asked.append(query.text)
        answer = model(query.text)
        if answer is None:
            rounds.answer([[]])
        elif isinstance(answer, str):
            rounds.answer([[written(answer)]])
        else:
            rounds.answer([[written(*answer)]])
    [drafts] = rounds.drafts
    return (drafts[0] if drafts else Draft("")), asked
