"""The OpenAPI schema of the server, kept by hand; tests compare it with the routes.

Languages and selections are those of the models at hand, so that whatever the schema allows is
answered.
"""

from __future__ import annotations

from typing import Any

import sieve
from sieve.serve.models import Models
from sieve.serve.settings import MAX_ALTERNATIVES, MAX_BEAM, MAX_WORD, MAX_WORDS, Limits

Schema = dict[str, Any]

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
STRING: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
THRESHOLD: Schema = {"type": "number", "minimum": 0, "exclusiveMaximum": 1}
REFUSALS = {
    "400": "The request is not as it should be, or of too much text",
    "403": "Wrong API key",
    "408": "The request was not sent in time",
    "413": "The body is too large",
    "415": "The body is of another kind",
    "429": "Too many requests of this client",
    "503": "The server is busy",
}


def schema(models: Models, limits: Limits) -> Schema:
    """The schema of a server with these models."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sieve",
            "version": sieve.__version__,
            "summary": "Translation over the output words that a sentence can need",
            "description": "LibreTranslate's API, and /v1 with what vocabulary selection adds.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/translate": {"post": _translate(models, limits)},
            "/detect": {"post": _detect(models, limits)},
            "/languages": {"get": _get("Languages and what they can be translated to", LANGUAGES)},
            "/health": {
                "get": _get("Whether the server is there", _object({"status": {"const": "ok"}}))
            },
            "/frontend/settings": {"get": _get("What a page should know", FRONTEND)},
            "/v1/translate": {"post": _own(models, limits)},
            "/openapi.json": {"get": _get("This schema", {"type": "object"})},
            "/metrics": {"get": _get("Numbers for Prometheus", STRING, "text/plain")},
        },
    }


def _object(properties: Schema, optional: tuple[str, ...] = (), open_: bool = False) -> Schema:
    """An object with these properties alone, all of them but the optional ones required."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        **({} if open_ else {"additionalProperties": False}),
    }


def _asked(properties: Schema, optional: tuple[str, ...], *, open_: bool = False) -> Schema:
    """A body in JSON: what is optional may also be null."""
    nullable = {
        name: _or_null(value) if name in optional else value for name, value in properties.items()
    }
    return _object(nullable, optional, open_)


def _list(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


DETECTED = _object({"language": STRING, "confidence": {**NUMBER, "minimum": 0, "maximum": 100}})
LANGUAGES = _list(_object({"code": STRING, "name": STRING, "targets": _list(STRING)}))
NAMED = _object({"code": STRING, "name": STRING})
FRONTEND = _object(
    {
        "charLimit": COUNT,
        "frontendTimeout": COUNT,
        "apiKeys": {"type": "boolean"},
        "keyRequired": {"type": "boolean"},
        "suggestions": {"type": "boolean"},
        "filesTranslation": {"type": "boolean"},
        "supportedFilesFormat": _list(STRING),
        "language": _object({"source": NAMED, "target": NAMED}),
    }
)
TRANSLATED = {
    "anyOf": [
        _object(
            {"translatedText": STRING, "detectedLanguage": DETECTED, "alternatives": _list(STRING)},
            optional=("detectedLanguage", "alternatives"),
        ),
        _object(
            {
                "translatedText": _list(STRING),
                "detectedLanguage": _list(DETECTED),
                "alternatives": _list(_list(STRING)),
            },
            optional=("detectedLanguage", "alternatives"),
        ),
    ]
}
EXPLANATION = _object(
    {
        "source": STRING,
        "vocab_size": COUNT,
        "systems": _list(_object({"selection": STRING, "size": COUNT, "translation": STRING})),
        "texts": _list(
            _object(
                {
                    "label": STRING,
                    "tokens": _list(
                        _object(
                            {
                                "piece": STRING,
                                "probability": _or_null(SHARE),
                                "voter": STRING,
                                "missing": _list(STRING),
                            }
                        )
                    ),
                }
            )
        ),
        "threshold": _or_null(SHARE),
        "words": _list(
            _object(
                {
                    "text": STRING,
                    "number": COUNT,
                    "votes": _list(_object({"piece": STRING, "probability": SHARE})),
                }
            )
        ),
    }
)
OWN_TRANSLATION = _object(
    {
        "translation": STRING,
        "set_size": {**COUNT, "description": "Words that could be chosen from; 0 for no text"},
        "score": {**NUMBER, "description": "Log-probability over those words"},
        "tokens": _list(_object({"piece": STRING, "score": NUMBER})),
        "timing": _object({"queue_ms": NUMBER, "engine_ms": NUMBER}),
        "explanation": {
            **_or_null(EXPLANATION),
            "description": "With explain; null for an empty text and for more than a sentence",
        },
    },
    optional=("explanation",),
)
OWN_TRANSLATED = _object(
    {
        "source": STRING,
        "target": STRING,
        "detected": DETECTED,
        "model": _or_null(STRING),
        "selection": STRING,
        "vocabulary_size": COUNT,
        "translations": _list(OWN_TRANSLATION),
        "timing": _object({"total_ms": NUMBER}),
    },
    optional=("detected",),
)


def _translate(models: Models, limits: Limits) -> Schema:
    text = {"type": "string", "minLength": 1, "maxLength": limits.characters}
    several = _list(STRING, minItems=1, maxItems=limits.texts)
    common = {
        "source": _source(models),
        "target": {"type": "string", "enum": models.languages},
        "format": {"type": "string", "enum": ["text", "html", ""], "default": "text"},
        "alternatives": {"type": "integer", "maximum": MAX_ALTERNATIVES, "default": 0},
        "api_key": STRING,
    }
    optional = ("format", "alternatives", "api_key")
    json = _asked({"q": {"anyOf": [text, several]}, **common}, optional, open_=True)
    form = _object({"q": text, **common}, optional, open_=True)
    bodies = {JSON: json, FORM: form, MULTIPART: form}
    return _post("Translate a text or a list of texts", bodies, TRANSLATED)


def _detect(models: Models, limits: Limits) -> Schema:
    text = {"type": "string", "minLength": 1, "maxLength": limits.characters}
    several = _list(STRING, minItems=1, maxItems=limits.texts)
    json = _asked({"q": {"anyOf": [text, several]}, "api_key": STRING}, ("api_key",), open_=True)
    form = _object({"q": text, "api_key": STRING}, ("api_key",), open_=True)
    bodies = {JSON: json, FORM: form, MULTIPART: form}
    return _post("The language of a text", bodies, _list(DETECTED, minItems=1))


def _own(models: Models, limits: Limits) -> Schema:
    words = _list({"type": "string", "maxLength": MAX_WORD}, maxItems=MAX_WORDS)
    common = {
        "texts": _list(STRING, minItems=1, maxItems=limits.texts),
        "source": _source(models),
        "target": {"type": "string", "enum": models.languages},
        "include": {**words, "description": "Words that may be used whatever is selected"},
        "exclude": {**words, "description": "Words that may not be used"},
        "beam_size": {"type": "integer", "minimum": 1, "maximum": MAX_BEAM, "default": 5},
        "explain": {"type": "boolean", "default": False},
        "api_key": STRING,
    }
    optional = (
        "selection", "threshold", "include", "exclude", "beam_size", "explain", "api_key",
    )  # fmt: skip
    selection = {
        "type": "string",
        "enum": models.selections,
        "description": "Also lexicon:K, frequent:N, nvs:λ, joined by +, on models that can",
    }
    kinds = [_asked({**common, "selection": selection}, optional)]
    if "nvs" in models.selections:
        own = {"selection": {"type": "string", "const": "nvs"}, "threshold": THRESHOLD}
        kinds.append(_asked({**common, **own}, optional))
    summary = "Translate texts, and say what selection did"
    return _post(summary, {JSON: {"anyOf": kinds}}, OWN_TRANSLATED)


def _source(models: Models) -> Schema:
    return {"type": "string", "enum": ["auto", *models.languages]}


def _get(summary: str, answer: Schema, kind: str = JSON) -> Schema:
    content = {kind: {"schema": answer}}
    return {"summary": summary, "responses": {"200": {"description": "OK", "content": content}}}


def _post(summary: str, bodies: Schema, answer: Schema) -> Schema:
    refused = {JSON: {"schema": _object({"error": STRING})}}
    return {
        "summary": summary,
        "requestBody": {
            "required": True,
            "content": {kind: {"schema": body} for kind, body in bodies.items()},
        },
        "responses": {
            "200": {"description": "OK", "content": {JSON: {"schema": answer}}},
            **{
                status: {"description": text, "content": refused}
                for status, text in REFUSALS.items()
            },
        },
    }
