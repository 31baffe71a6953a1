"""Is this sentence in the language it should be in? py3langid's model, many sentences at once.

Its own `rank` walks one sentence byte by byte in Python; here all sentences of a block take each
step together, several times faster. Where the library's insides look different, `rank` is used.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.config import unknown
from sieve.errors import ConfigError, MissingExtraError, require
from sieve.tokenize.vocabulary import IntArray

_MAX_BYTES = 128  # of a sentence: more does not make the answer surer
_FIRST_BYTES = 40  # where these are already likeliest in the right language, the rest is not asked
_ROWS = 1024  # sentences that walk together
_SCORED = 4096  # features scored at once: what a core's cache holds


class LanguageIdentifier:
    """How likely sentences are in a language, against the likeliest other one."""

    def __init__(self) -> None:
        try:
            module = require("py3langid.langid", "train", "checking the language of sentences")
        except MissingExtraError as error:
            raise MissingExtraError(f"{error}, or go without (--no-language-check)") from None
        self._identifier: Any = module.LanguageIdentifier.from_model_file(
            module.MODEL_FILE, norm_probs=True
        )
        self._tables = _Tables.of(self._identifier)

    def check(self, language: str) -> str:
        """The identifier's name of a language, `de` for `de-AT` or `de_AT`; else an error."""
        name = language.replace("_", "-").split("-")[0].lower()
        known = list(dict.fromkeys(self._identifier.nb_classes))
        if name not in known:
            raise ConfigError(
                f"{unknown('language', language, known)}; "
                "or switch the check of languages off (--no-language-check)"
            )
        return name

    def odds(self, texts: Sequence[str], language: str) -> npt.NDArray[np.float32]:
        """(N,) probability of `language` over that of the likeliest one: 1 where it is that."""
        if self._tables is None:
            return np.array([self._slow_odds(text, language) for text in texts], np.float32)
        encoded = [_bytes(text) for text in texts]
        odds = np.ones(len(texts), np.float32)
        doubtful: IntArray = np.arange(len(texts))
        for limit in (_FIRST_BYTES, _MAX_BYTES):
            for start in range(0, len(doubtful), _ROWS):
                rows = doubtful[start : start + _ROWS]
                odds[rows] = self._tables.odds([encoded[i][:limit] for i in rows], language)
            doubtful = np.flatnonzero(odds < 1.0)
        return odds

    def _slow_odds(self, text: str, language: str) -> float:
        ranking = self._identifier.rank(_bytes(text))
        return float(dict(ranking)[language] / max(ranking[0][1], 1e-30))


def _bytes(text: str) -> bytes:
    """The bytes of a sentence that are looked at; capitals alone say little."""
    text = text[:_MAX_BYTES]
    if text.isupper():
        text = text.lower()
    return text.encode("utf-8", errors="replace")[:_MAX_BYTES]


class _Tables:
    """The library's automaton and naive Bayes model as arrays."""

    def __init__(self, identifier: Any) -> None:
        self._next = np.frombuffer(identifier.tk_nextmove, identifier.tk_nextmove.typecode)
        self._row = np.array(identifier.tk_row, np.int32) << 8
        self._feature = np.array(identifier.tk_output, np.int32)
        self._weights = np.asarray(identifier.nb_ptc, np.float32)
        self._prior = np.asarray(identifier.nb_pc, np.float32)
        self._classes = list(identifier.nb_classes)

    @classmethod
    def of(cls, identifier: Any) -> "_Tables | None":
        """The tables, or None where they do not give what the library itself gives."""
        probe = "The quick brown fox jumps over the lazy dog; der Hund schläft."
        try:
            tables = cls(identifier)
            ranking = identifier.rank(probe)
            expected = dict(ranking)["de"] / ranking[0][1]
            same = abs(float(tables.odds([probe.encode()], "de")[0]) - expected) < 1e-2
        except (AttributeError, TypeError, ValueError, IndexError, KeyError):
            return None
        return tables if same else None

    def odds(self, encoded: Sequence[bytes], language: str) -> npt.NDArray[np.float32]:
        scores = self._scores(encoded)  # (N, languages)
        lengths = np.array([max(len(data), 1) for data in encoded], np.float32)
        scores /= np.sqrt(lengths)[:, None]
        np.exp(scores - scores.max(axis=1, keepdims=True), out=scores)
        # some languages have several columns, one a script
        names = {name: index for index, name in reversed(list(enumerate(self._classes)))}
        for index, name in enumerate(self._classes):
            if names[name] != index:
                scores[:, names[name]] += scores[:, index]
        ratio: npt.NDArray[np.float32] = scores[:, names[language]] / scores.max(axis=1)
        return ratio

    def _scores(self, encoded: Sequence[bytes]) -> npt.NDArray[np.float32]:
        """Log-posterior of every language: log(1 + count) of the features found, weighted."""
        row, feature, count = _count(self._walk(encoded))
        scores = np.zeros((len(encoded), len(self._prior)), np.float32)
        features = np.unique(row)
        scores[features] = self._prior  # no feature: every language alike
        weight = np.log1p(count).astype(np.float32)
        for start in range(0, len(row), _SCORED):
            part = slice(start, start + _SCORED)
            weighted = self._weights[feature[part]]
            weighted *= weight[part, None]
            edges = np.flatnonzero(np.diff(row[part], prepend=-1))
            scores[row[part][edges]] += np.add.reduceat(weighted, edges, axis=0)
        return scores

    def _walk(self, encoded: Sequence[bytes]) -> IntArray:
        """(N, bytes) the feature each byte completes, −1 for none: all sentences step together."""
        width = max(map(len, encoded), default=0)
        letters = np.zeros((width, len(encoded)), np.int32)  # by position: each step reads a row
        lengths = np.array([len(data) for data in encoded])
        for column, data in enumerate(encoded):
            letters[: len(data), column] = np.frombuffer(data, np.uint8)
        features: IntArray = np.empty((width, len(encoded)), np.int32)
        state = np.zeros(len(encoded), np.int64)
        for position in range(width):
            state = self._next[self._row[state] + letters[position]]
            features[position] = self._feature[state]
        features[np.arange(width)[:, None] >= lengths] = -1
        return np.transpose(features)


def _count(features: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Sentence, feature and how often, sorted by sentence."""
    rows, columns = np.nonzero(features >= 0)
    keys = rows.astype(np.int64) << 32 | features[rows, columns]
    unique, count = np.unique(keys, return_counts=True)
    return unique >> 32, unique & 0xFFFFFFFF, count
