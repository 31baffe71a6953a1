"""Detects which of the server's languages a text is in, with py3langid, loaded on first use.

Only the languages served are considered: among few, even short texts are mostly told apart.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sieve.errors import require

MOST_CHARACTERS = 2000
"""Considered at most: more would not make the answer surer."""


@dataclass(frozen=True)
class Detected:
    """A language and its confidence in percent."""

    language: str
    confidence: float


class Detector:
    """Tells languages apart; threads share it."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._languages = list(languages)
        self._lock = threading.Lock()
        self._identifier: Any = None
        self._codes: dict[str, str] = {}

    def warm(self) -> None:
        """Loads the model in the background: a request is likely to follow."""
        if self._identifier is None and not self._lock.locked():
            threading.Thread(target=self.detect, args=(["a"],), daemon=True).start()

    def detect(self, texts: Sequence[str]) -> list[Detected]:
        """Languages of the texts taken together, most likely first, without negligible ones."""
        text = "\n".join(texts)[:MOST_CHARACTERS]
        if not any(map(str.isalpha, text)):
            return [Detected(self._languages[0], 0.0)]
        with self._lock:
            self._load()
            if not self._codes:
                return [Detected(self._languages[0], 0.0)]
            ranking = self._identifier.rank(text.lower() if text.isupper() else text)
        ranked = [Detected(self._codes[code], round(100.0 * float(p), 1)) for code, p in ranking]
        return [guess for guess in ranked if guess.confidence >= 1.0] or ranked[:1]

    def _load(self) -> None:
        if self._identifier is not None:
            return
        module = require("py3langid.langid", "serve", "telling languages apart")
        identifier = module.LanguageIdentifier.from_model_file(module.MODEL_FILE, norm_probs=True)
        known = set(identifier.nb_classes)
        codes = {language.partition("-")[0]: language for language in reversed(self._languages)}
        self._codes = {code: language for code, language in codes.items() if code in known}
        if self._codes:
            identifier.set_languages(sorted(self._codes))
        self._identifier = identifier
