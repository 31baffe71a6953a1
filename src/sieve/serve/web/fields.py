"""From the bytes of a body to checked fields: JSON or a form, then a pydantic model.

A dialect writes what it takes as a model. The same model gives the schema (`openapi`) and the
line that a client gets for a field that is not as it should be; `Expected` has that line's words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, from_json

from sieve.config import unknown
from sieve.serve.refusal import Refused

MOST_FIELDS = 100
"""Most fields of a form."""


@dataclass(frozen=True)
class Expected:
    """What is said of a field that is something else, as metadata of its type."""

    text: str
    """As in "is not a number"."""
    limits: dict[str, str] = field(default_factory=dict)
    """What is said instead for some kinds of pydantic's errors, such as `too_long`."""


def _no_bool(value: object) -> object:
    """None, which no number is, for what pydantic would take as 0 or 1."""
    return None if isinstance(value, bool) else value


def _no_text(value: object) -> object:
    return None if isinstance(value, bool | str) else value


Text = Annotated[str, Expected("is not a string")]
Texts = Annotated[list[str], Expected("is not a list of strings")]
FormNumber = Annotated[int, BeforeValidator(_no_bool)]
"""A whole number as JSON or a form may spell it."""
JsonNumber = Annotated[int, BeforeValidator(_no_text)]
"""A whole number of JSON."""


class Fields(BaseModel):
    """What a request says; a dialect's own derive from it."""

    model_config = ConfigDict(frozen=True)


AnyFields = TypeVar("AnyFields", bound=Fields)


def checked(kind: type[AnyFields], fields: dict[str, Any]) -> AnyFields:
    """Fields as what a dialect expects, or a refusal that names the first that is wrong."""
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        complaint = _complaint(kind, error.errors(include_url=False)[0], fields)
        raise Refused(400, f"Invalid request: {complaint}") from None


def _complaint(kind: type[Fields], error: ErrorDetails, fields: dict[str, Any]) -> str:
    name = str(error["loc"][0]) if error["loc"] else ""
    if error["type"] == "extra_forbidden":
        return unknown("parameter", name[:40], list(kind.model_fields))
    if name not in kind.model_fields:
        return error["msg"].removeprefix("Value error, ")
    if kind.model_fields[name].is_required() and not fields.get(name):
        return f"missing {name} parameter"
    for item in kind.model_fields[name].metadata:
        if isinstance(item, Expected):
            return f"{name} parameter {item.limits.get(error['type'], item.text)}"
    return f"{name} parameter: {error['msg']}"


def parse_fields(body: bytes, content_type: str, query: bytes) -> dict[str, Any]:
    """The fields of a request, JSON or form; values of a form are strings."""
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
    return dict(reversed(pairs))  # the first of a name counts


def is_json(content_type: str) -> bool:
    """Whether a body says that it is JSON."""
    kind = _kind(content_type)
    return kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )


def parse_json(body: bytes) -> dict[str, Any]:
    """A JSON object whose strings are all proper text; a field that is null is left out."""
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError:  # malformed JSON, malformed UTF-8, halves of characters
        value = None
    if not isinstance(value, dict):
        raise Refused(400, "Invalid JSON format")
    return {name: value for name, value in value.items() if value is not None}


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _pairs(raw: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            raw.decode("utf-8"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:
        raise Refused(
            400, f"Invalid form: expected UTF-8 and at most {MOST_FIELDS} fields"
        ) from None


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
