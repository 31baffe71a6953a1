"""Documents on their way through the server: translated window by window, then kept for a while.

Knows neither HTTP nor dialects; a document is bytes and a name.
"""

from __future__ import annotations

import io
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from sieve.errors import InputError
from sieve.serve.dispatcher import Outcome
from sieve.serve.refusal import Abandoned
from sieve.translate.translation import Request, Translation
from sieve.translate.translator import Translator

if TYPE_CHECKING:
    from sieve.documents.formats import Format

Submit = Callable[[Request, Sequence[str]], Future[list[Outcome[Translation]]]]

KEPT_SECONDS = 600.0
"""How long a translation waits to be fetched."""
KEPT_BYTES = 128 << 20
"""Of all translations that wait; the oldest give way."""
_SAMPLE = 2000


def file_suffixes() -> list[str]:
    """Endings of the names of files that can be translated."""
    from sieve.documents import FORMATS  # not before the first document

    return sorted({suffix for format in FORMATS.values() for suffix in format.suffixes} | {".txt"})


@dataclass(eq=False)
class FileWork:
    """One document to translate, in a thread of its own that waits for the engine's."""

    data: bytes
    name: str
    _orders: list[Future[list[Outcome[Translation]]]] = field(default_factory=list)
    _stopped: bool = False

    def sample(self) -> str:
        """Some of its text, to tell the language by."""
        from sieve.documents import DamagedError, windows

        format = self._format()
        try:
            for document in windows(format.read(io.BytesIO(self.data)), len):
                if document.sentences:
                    return " ".join(document.sentences)[:_SAMPLE]
        except DamagedError as error:
            raise InputError(f"{self.name}: {error}") from None
        return ""

    def run(self, translator: Translator, submit: Submit) -> bytes:
        """The translation."""
        from sieve.documents import Document, translate_stream

        def answer(document: Document) -> Sequence[Translation]:
            return document.translations(Request(), translations)

        def translations(texts: list[str], request: Request) -> list[Translation]:
            if self._stopped:
                raise Abandoned
            order = submit(request, texts)
            self._orders[:] = [order]
            return [outcome.value for outcome in order.result()]

        source, target = io.BytesIO(self.data), io.BytesIO()
        format = self._format().named(self.target_name)
        translate_stream(source, target, format, (translator, answer), self.name)
        return target.getvalue()

    @property
    def target_name(self) -> str:
        """The name of the translation: that of the document where its format can be written."""
        others = self._format().others
        return str(PurePath(self.name).with_suffix(next(iter(others)))) if others else self.name

    def stop(self) -> None:
        """Drops what has not begun: nobody waits for it any more."""
        self._stopped = True
        for order in self._orders:
            order.cancel()

    def _format(self) -> Format:
        from sieve.documents import recognised

        is_text = PurePath(self.name).suffix.lower() == ".txt"
        return recognised(io.BytesIO(self.data), self.name, "text" if is_text else None)


@dataclass(frozen=True)
class KeptFile:
    """A translation that waits to be fetched."""

    name: str
    data: bytes
    until: float


class KeptFiles:
    """Translations under names that nobody can guess."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()  # requests are in threads
        self._files: dict[str, KeptFile] = {}

    def keep(self, name: str, data: bytes) -> str:
        """Keeps a file and gives the key to it."""
        if len(data) > KEPT_BYTES:
            raise InputError(f"{name}: its translation has more than {KEPT_BYTES} bytes")
        key = secrets.token_urlsafe(24)
        with self._lock:
            self._forget()
            while sum(len(file.data) for file in self._files.values()) + len(data) > KEPT_BYTES:
                del self._files[next(iter(self._files))]
            self._files[key] = KeptFile(name, data, self._clock() + KEPT_SECONDS)
        return key

    def find(self, key: str) -> KeptFile | None:
        """A file by its key, unless its time is up."""
        with self._lock:
            self._forget()
            return self._files.get(key)

    def _forget(self) -> None:
        now = self._clock()
        for key in [key for key, file in self._files.items() if file.until <= now]:
            del self._files[key]
