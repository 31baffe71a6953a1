"""One thing that a dialect can be asked: where, what it takes and gives, and who answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sieve.serve.web.fields import Fields

Schema = dict[str, Any]
Handler = Callable[[Request], Awaitable[Response]]

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"


@dataclass(frozen=True)
class Taken:
    """A body: its fields, and what this server narrows them to."""

    fields: type[Fields]
    narrowed: Mapping[str, Schema] = field(default_factory=dict)
    """Schemas of fields that depend on the models and limits at hand."""


@dataclass(frozen=True)
class Operation:
    """A route and its description."""

    method: str
    path: str
    summary: str
    handle: Handler
    answers: Any
    """The type of the answer, for the schema."""
    takes: Mapping[str, tuple[Taken, ...]] = field(default_factory=dict)
    """Bodies by their content type; of several, any will do."""
    answer_type: str = JSON
    """The content type of the answer."""
    owns: Callable[[Mapping[str, Any]], bool] | None = None
    """Whether the fields of a body of JSON are of this dialect, where another has the same route
    for all that is not."""
