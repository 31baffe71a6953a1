"""What a body says, as a dictionary: JSON, a form or a multipart form, and the query.

Checks encodings and shapes, not meanings. Values of a form are strings; those of JSON anything.
"""

import json
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl

from sieve.serve.web import Refused

MOST_FIELDS = 100
DEEPEST = 64
"""Nesting of JSON that is read; more is no request of ours."""


def parse_fields(body: bytes, content_type: str, query: bytes) -> dict[str, Any]:
    """The fields of a request, JSON or form."""
    if is_json(content_type):
        return parse_json(body)
    kind = _kind(content_type)
    pairs = _pairs(query)
    if kind == "multipart/form-data":
        pairs += _parts(body, content_type)
    elif kind in ("", "application/x-www-form-urlencoded"):
        pairs += _pairs(body)
    elif body:
        raise Refused(415, f"got a body of type {kind!a}, expected JSON or a form")
    return dict(reversed(pairs))  # the first one of a name counts


def is_json(content_type: str) -> bool:
    """Whether a body says that it is JSON."""
    kind = _kind(content_type)
    return kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )


def parse_json(body: bytes) -> dict[str, Any]:
    """A JSON object whose strings are all proper text; a field that is null is not there."""
    try:
        found = json.loads(body.decode("utf-8"), parse_constant=_no_number)
        if not isinstance(found, dict):
            raise ValueError
        _check_text(found, DEEPEST)
    except (ValueError, RecursionError):  # malformed JSON and malformed UTF-8 alike
        raise Refused(400, "Invalid JSON format") from None
    return {name: value for name, value in found.items() if value is not None}


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _check_text(value: Any, depth: int) -> None:
    """JSON can spell halves of characters, which nothing can translate or write."""
    if depth == 0:
        raise ValueError("too deep")
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, list):
        for item in value:
            _check_text(item, depth - 1)
    elif isinstance(value, dict):
        for name, item in value.items():
            _check_text(name, depth - 1)
            _check_text(item, depth - 1)


def _pairs(raw: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            raw.decode("utf-8"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:
        raise Refused(400, "Invalid form: expected UTF-8 and few fields") from None


def _parts(body: bytes, content_type: str) -> list[tuple[str, str]]:
    head = b"Content-Type: " + content_type.encode("latin-1") + b"\r\n\r\n"
    message = BytesParser(policy=HTTP).parsebytes(head + body)
    pairs = []
    try:
        for part in message.iter_parts():
            name = part.get_param("name", header="content-disposition")
            content = part.get_payload(decode=True)
            if not isinstance(name, str) or not isinstance(content, bytes):
                raise ValueError
            pairs.append((name, content.decode("utf-8")))
    except (ValueError, AttributeError, LookupError, KeyError, TypeError, IndexError):
        raise Refused(400, "Invalid form: expected named parts in UTF-8") from None
    return pairs
