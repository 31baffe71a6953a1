"""One line per request on stdout, as text or JSON; never what a user wrote, unless asked.

Written by a thread: a reader that stands still loses lines, and holds nobody up.
"""

from __future__ import annotations

import json
import queue
import re
import secrets
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, TextIO

from sieve.log import logger

Form = Literal["", "line", "json"]
MOST_WAITING = 10_000
"""Lines that wait for a slow reader; further ones are lost, and counted."""
PARTING_SECONDS = 2.0
_REQUEST_ID = re.compile(r"[\w.:+/=@-]{1,128}", re.ASCII)


@dataclass
class Note:
    """What the log says about a request, filled in while it is served."""

    request_id: str
    model: str = ""
    source: str = ""
    target: str = ""
    texts: Sequence[str] = ()

    @classmethod
    def of(cls, given: str) -> Note:
        """A request's note: under the id that came with it where that is one, or a new one."""
        return cls(given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8))


class AccessLog:
    """Lines about requests."""

    def __init__(self, form: Form, texts: bool = False, stream: TextIO | None = None) -> None:
        """Starts the thread that writes.

        Args:
            form: Of a line: `line` or `json`.
            texts: Whether lines have the texts of users.
            stream: Where to write; by default stdout.
        """
        self._form, self._texts = form, texts
        self._stream = stream or sys.stdout
        self._lines: queue.Queue[str] = queue.Queue(MOST_WAITING)
        self._lost = 0
        self._thread = threading.Thread(target=self._write, name="sieve-access-log", daemon=True)
        self._thread.start()

    def add(self, note: Note, fields: Mapping[str, Any]) -> None:
        """Writes a line soon.

        Args:
            note: About the request.
            fields: What the web server knows of it.
        """
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        line = {"time": now.replace("+00:00", "Z"), **fields, "id": note.request_id}
        if note.texts:
            line |= {"source": note.source, "target": note.target, "model": note.model or None,
                     "texts": len(note.texts), "characters": sum(map(len, note.texts))}  # fmt: skip
            if self._texts:
                line["text"] = list(note.texts)
        try:
            self._lines.put_nowait(json.dumps(line) if self._form == "json" else _as_text(line))
        except queue.Full:
            self._lost += 1

    def close(self) -> None:
        """Writes what waits, unless nobody reads it."""
        try:
            self._lines.put("", timeout=PARTING_SECONDS)
        except queue.Full:
            return
        self._thread.join(PARTING_SECONDS)

    def _write(self) -> None:
        while line := self._lines.get():
            try:
                self._stream.write(line + "\n")
                self._stream.flush()
            except (OSError, ValueError):  # closed
                return
            if self._lost and self._lines.empty():
                lost, self._lost = self._lost, 0
                logger.warning("%d lines of the access log are lost: its reader is slow", lost)


def _as_text(line: Mapping[str, Any]) -> str:
    """The values that every line has, then the others with their names."""
    first = [str(line[name]) for name in ("time", "client", "method", "path", "status")]
    others = {name: value for name, value in line.items() if value is not None}
    for name in ("time", "client", "method", "path", "status"):
        others.pop(name)
    return " ".join([*first, *(f"{name}={_value(value)}" for name, value in others.items())])


def _value(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list) else str(value)
