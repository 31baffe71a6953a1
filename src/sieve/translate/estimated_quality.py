"""How good a translation is likely to be, without a reference: about its sentence chrF, 0 to 1.

A small logistic model of what shows without one: how probable the model found its text and,
where there is a model of the other direction, the source given the text; length, and words that
were copied. That times the share of the text that neither repeats itself nor is in another script
nor was left in the source language.
`benchmarks/quality.py` fits the weights and measures what they are worth. Not `confidence`, which
says whether selection changed anything.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sieve.translate.translation import Translation

FORWARD, BACKWARD = ("mean", "worst quarter"), ("mean",)
FORM = ("length", "copied", "words", "constant")
WEIGHTS_ALONE = (0.916, 1.382, -0.278, 0.261, 0.078, -1.644)
"""Of a model's own scores and the form."""
WEIGHTS_BOTH = (1.097, 0.796, 0.845, -0.173, 0.075, 0.150, -1.888)
"""Of the scores in both directions and the form."""
_WORD = re.compile(r"[^\W\d_]+")
_LEAST = -8.0
"""Log-probability below which a token is not more surprising."""
_MOSTLY = 0.5
_LONG = 4  # letters of a word that says something if it is copied
_SCRIPTS = {
    "CYRILLIC": "be bg kk ky mk mn ru sr tg uk",
    "GREEK": "el",
    "ARABIC": "ar fa ps ur",
    "HEBREW": "he yi",
    "CJK HIRAGANA KATAKANA": "ja zh",
    "HANGUL": "ko",
    "DEVANAGARI": "hi mr ne",
    "THAI": "th",
    "GEORGIAN": "ka",
    "ARMENIAN": "hy",
}


class Scoring(Protocol):
    """What scores given translations, such as `Translator.score`."""

    def __call__(
        self, sources: Sequence[str], targets: Sequence[str], selection: str | None = None
    ) -> list[Translation]:
        """One translation with its token scores for each pair."""


@dataclass(frozen=True)
class Quality:
    """Estimates quality, with the model of the other direction where there is one."""

    backward: Scoring | None
    languages: tuple[str, str]

    def of(self, sources: Sequence[str], translations: Sequence[Translation]) -> list[float]:
        """A number from 0 to 1 for each translation; 0 for one that is empty."""
        weights = WEIGHTS_ALONE if self.backward is None else WEIGHTS_BOTH
        rows = self.features(sources, translations)
        return [
            round(logistic(row, weights) * self.sound(source, translation.text), 6)
            for source, translation, row in zip(sources, translations, rows, strict=True)
        ]

    def sound(self, source: str, text: str) -> float:
        """The share of a text that is none of the faults of a model that is lost."""
        if not text.strip():
            return float(not source.strip())
        words, known = _WORD.findall(text.lower()), _WORD.findall(source.lower())
        repeated = max(0.0, _repeated(words) - _repeated(known))
        left = _untranslated(source, text)
        return (1 - repeated) * (1 - left) * (1 - _foreign(text, source, self.languages[1]))

    def features(
        self, sources: Sequence[str], translations: Sequence[Translation]
    ) -> list[list[float]]:
        """What the model sees of each translation."""
        texts = [translation.text for translation in translations]
        scores = [list(map(_probable, translations))]
        if self.backward is not None:
            back = self.backward(texts, sources, "none")
            scores.append([_probable(translation)[: len(BACKWARD)] for translation in back])
        form = list(map(_form, sources, texts))
        return [
            [value for part in parts for value in part] for parts in zip(*scores, form, strict=True)
        ]


def logistic(features: Sequence[float], weights: Sequence[float]) -> float:
    """The number from 0 to 1 that a weighted sum stands for."""
    pairs = zip(weights, features, strict=True)
    return 1.0 / (1.0 + math.exp(-sum(weight * value for weight, value in pairs)))


def _probable(translation: Translation) -> list[float]:
    """The geometric mean of the tokens' probabilities, and that of the least probable quarter."""
    scores = sorted(max(score, _LEAST) for score in translation.token_scores) or [0.0]
    worst = scores[: math.ceil(len(scores) / 4)]
    return [math.exp(sum(part) / len(part)) for part in (scores, worst)]


def _form(source: str, text: str) -> list[float]:
    """What can be seen without a model, a constant last."""
    words, known = _WORD.findall(text.lower()), set(_WORD.findall(source.lower()))
    long_words = [word for word in words if len(word) >= _LONG]
    copied = [word for word in long_words if word in known]
    return [
        abs(math.log((len(text) + 5) / (len(source) + 5))),
        len(copied) / max(1, len(long_words)),
        math.log(1 + len(words)),
        1.0,
    ]


def _repeated(words: Sequence[str]) -> float:
    """The share of neighbouring pairs of words that were there before."""
    pairs = list(pairwise(words))
    return 1 - len(set(pairs)) / len(pairs) if pairs else 0.0


def _untranslated(source: str, text: str) -> float:
    """The share of words that are no names and were copied, where it is most of them."""
    known = set(_WORD.findall(source))
    words = [word for word in _WORD.findall(text) if len(word) > 2 and word.islower()]
    share = sum(word in known for word in words) / max(1, len(words))
    return share if share > _MOSTLY else 0.0


def _foreign(text: str, source: str, language: str) -> float:
    """The share of letters of another script than the language's that the source has not."""
    code = language.partition("-")[0]
    scripts = next((names for names, codes in _SCRIPTS.items() if code in codes.split()), "LATIN")
    known, prefixes = set(source), tuple(scripts.split())
    letters = [letter for letter in text if letter.isalpha() or letter == "\ufffd"]
    strange = [
        letter
        for letter in set(letters) - known
        if not unicodedata.name(letter, "").startswith(prefixes)
    ]
    return sum(letters.count(letter) for letter in strange) / max(1, len(letters))
