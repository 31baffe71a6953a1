"""Which of the server's languages is a text in? py3langid's model, loaded when it is first asked.

Asks for the languages that are served alone: among few, even short texts are mostly told apart.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sieve.errors import require

MOST_CHARACTERS = 2000
"""That are looked at: more does not make the answer surer."""


@dataclass(frozen=True)
class Detected:
    """A language and how sure it is, in percent."""

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
        """Loads the model beside other work, as somebody seems about to ask."""
        if self._identifier is None and not self._lock.locked():
            threading.Thread(target=self.detect, args=(["a"],), daemon=True).start()

    def detect(self, texts: Sequence[str]) -> list[Detected]:
        """Languages of texts taken together, the likeliest first, none that is out of question."""
        text = "\n".join(texts)[:MOST_CHARACTERS]
        if not any(map(str.isalpha, text)):
            return [Detected(self._languages[0], 0.0)]
        with self._lock:
            self._load()
            if not self._codes:
                return [Detected(self._languages[0], 0.0)]
            ranking = self._identifier.rank(text.lower() if text.isupper() else text)
        found = [Detected(self._codes[code], round(100.0 * float(p), 1)) for code, p in ranking]
        return [one for one in found if one.confidence >= 1.0] or found[:1]

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
