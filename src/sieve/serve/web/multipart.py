"""Forms with files: the parts of a body, without copies beyond the parts themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sieve.serve.refusal import Refused

MOST_PARTS = 20
_BOUNDARY = re.compile(r"(?i)^multipart/form-data\s*;(?:.*;)?\s*boundary=\"?([^\";\s]{1,70})\"?")
_NAME = re.compile(r"(?i)^content-disposition:[^\r\n]*?[;\s]name=\"?([^\";\r\n]*)\"?", re.M)
_FILE_NAME = re.compile(r"(?i)^content-disposition:[^\r\n]*?[;\s]filename=\"([^\"\r\n]*)\"", re.M)


@dataclass(frozen=True)
class FormPart:
    """A field of a form."""

    name: str
    data: bytes
    file_name: str | None = None


def form_parts(body: bytes, content_type: str) -> list[FormPart]:
    """The fields of a form with files."""
    boundary = _BOUNDARY.match(content_type)
    if boundary is None:
        raise Refused(415, "got a body without parts, expected a form with a file")
    return [*_parts(body, b"--" + boundary[1].encode("latin-1"))]


def _parts(body: bytes, mark: bytes) -> Iterator[FormPart]:
    place = body.find(mark)
    for _ in range(MOST_PARTS):
        start = place + len(mark)
        end = body.find(b"\r\n" + mark, start)
        if place < 0 or body[start : start + 2] == b"--":
            return
        blank = body.find(b"\r\n\r\n", start, end if end >= 0 else None)
        if end < 0 or blank < 0:
            raise Refused(400, "Invalid form: a part of it is not complete")
        head = body[start:blank].decode("utf-8", errors="replace")
        name, file_name = _NAME.search(head), _FILE_NAME.search(head)
        if name is None:
            raise Refused(400, "Invalid form: expected named parts")
        yield FormPart(name[1], body[blank + 4 : end], file_name[1] if file_name else None)
        place = end + 2
    raise Refused(400, f"Invalid form: expected at most {MOST_PARTS} parts")
