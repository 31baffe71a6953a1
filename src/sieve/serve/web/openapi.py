"""The OpenAPI schema of a server, from what its operations say they take and give."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

import sieve
from sieve.serve.web.operation import JSON, Operation, Schema, Taken

COMPONENTS = "#/components/schemas/{model}"
REFUSAL: Schema = {
    "type": "object",
    "properties": {"error": {"type": "string"}},
    "required": ["error"],
    "additionalProperties": False,
}
REFUSALS = {
    "400": "The request is not as it should be, or has too much text",
    "403": "Wrong API key",
    "408": "The request was not sent in time",
    "413": "The body is too large",
    "415": "The body is of another type",
    "429": "Too many requests from this client",
    "503": "The server is busy",
}


def schema(operations: Sequence[Operation]) -> Schema:
    """The schema of a server with these operations."""
    answers, definitions = TypeAdapter.json_schemas(
        [(str(n), "serialization", TypeAdapter(each.answers)) for n, each in enumerate(operations)],
        ref_template=COMPONENTS,
    )
    paths: dict[str, Schema] = {}
    for number, operation in enumerate(operations):
        described = _described(operation, answers[str(number), "serialization"])
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sieve",
            "version": sieve.__version__,
            "summary": "Translation over the output tokens that a sentence may need",
            "description": "LibreTranslate's API, and /v1 with what vocabulary selection adds.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": definitions.get("$defs", {})},
    }


def _described(operation: Operation, answer: Schema) -> Schema:
    given = {operation.answer_type: {"schema": answer}}
    described: Schema = {
        "summary": operation.summary,
        "responses": {"200": {"description": "OK", "content": given}},
    }
    if names := re.findall(r"\{(\w+)\}", operation.path):
        described["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in names
        ]
        described["responses"]["404"] = {
            "description": "Nothing of this name",
            "content": {JSON: {"schema": REFUSAL}},
        }
    if operation.takes:
        described["requestBody"] = {
            "required": True,
            "content": {
                kind: {"schema": _body(kind, any_of)} for kind, any_of in operation.takes.items()
            },
        }
        refused = {JSON: {"schema": REFUSAL}}
        described["responses"] |= {
            status: {"description": text, "content": refused} for status, text in REFUSALS.items()
        }
    return described


def _body(kind: str, any_of: Sequence[Taken]) -> Schema:
    schemas = [_fields(taken, nullable=kind == JSON) for taken in any_of]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _fields(taken: Taken, *, nullable: bool) -> Schema:
    """The schema of a body; a field of JSON that may be left out may also be null."""
    schema: dict[str, Any] = taken.fields.model_json_schema()
    required = schema.get("required", [])
    for name, own in list(schema["properties"].items()):
        narrowed = {**own, **taken.narrowed[name]} if name in taken.narrowed else own
        if nullable and name not in required:
            narrowed = {"anyOf": [narrowed, {"type": "null"}]}
        schema["properties"][name] = narrowed
    return schema
