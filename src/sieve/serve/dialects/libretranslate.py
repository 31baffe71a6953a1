"""LibreTranslate's API: the same fields, status codes and error texts, so that its clients work."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from typing_extensions import NotRequired, TypedDict

from sieve.engines.options import SearchOptions
from sieve.serve.access import Access, cost_of
from sieve.serve.detect import Detected
from sieve.serve.direction import AUTO, Direction, direction
from sieve.serve.file_work import file_suffixes
from sieve.serve.language_names import name_of
from sieve.serve.models import Described
from sieve.serve.refusal import Refused
from sieve.serve.service import Answer, Service
from sieve.serve.settings import MAX_ALTERNATIVES
from sieve.serve.web.body import RequestClient, read_body
from sieve.serve.web.fields import (
    Expected,
    Fields,
    FormNumber,
    Text,
    checked,
    is_json,
    parse_fields,
)
from sieve.serve.web.operation import FORM, JSON, MULTIPART, Operation, Schema, Taken
from sieve.translate.translation import Request as Wanted

FORMATS = ("text", "html", "")
TYPING_MILLISECONDS = 500
"""That a page should wait for the next letter, as LibreTranslate tells its own."""

Query = Annotated[str | list[str], Expected("is not a string or a list of strings")]


class DetectFields(Fields):
    """The fields of /detect; LibreTranslate passes over any others."""

    q: Query = Field(min_length=1)
    api_key: Text = ""

    @property
    def texts(self) -> list[str]:
        """One or several."""
        return [self.q] if isinstance(self.q, str) else self.q


class TranslateFields(DetectFields):
    """The fields of /translate."""

    source: Text = Field(min_length=1)
    target: Text = Field(min_length=1)
    format: Text = Field("text", json_schema_extra={"enum": [*FORMATS]})
    alternatives: Annotated[
        FormNumber,
        Expected("is not a number", {"less_than_equal": f"must be <= {MAX_ALTERNATIVES}"}),
    ] = Field(0, le=MAX_ALTERNATIVES)


class TextAnswer(TypedDict):
    """The answer to a text."""

    translatedText: str
    detectedLanguage: NotRequired[Detected]
    alternatives: NotRequired[list[str]]


class TextsAnswer(TypedDict):
    """The answer to a list of texts."""

    translatedText: list[str]
    detectedLanguage: NotRequired[list[Detected]]
    alternatives: NotRequired[list[list[str]]]


class Health(TypedDict):
    """The answer of a server that is up."""

    status: Literal["ok"]


class Named(TypedDict):
    """A language."""

    code: str
    name: str


class Pair(TypedDict):
    """What a page should offer first."""

    source: Named
    target: Named


class Frontend(TypedDict):
    """What a page should know."""

    charLimit: int
    frontendTimeout: int
    apiKeys: bool
    keyRequired: bool
    suggestions: bool
    filesTranslation: bool
    supportedFilesFormat: list[str]
    language: Pair


def operations(service: Service, access: Access) -> Sequence[Operation]:
    """The routes of the dialect."""
    dialect = LibreTranslate(service, access)
    models, limits = service.models, service.limits
    text: Schema = {"type": "string", "minLength": 1, "maxLength": limits.characters}
    several: Schema = {
        "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": limits.texts,
    }  # fmt: skip
    languages: dict[str, Schema] = {
        "source": {"enum": [AUTO, *models.languages]},
        "target": {"enum": models.languages},
    }

    def bodies(fields: type[Fields], **narrowed: Schema) -> dict[str, tuple[Taken, ...]]:
        listed = Taken(fields, {**narrowed, "q": {"anyOf": [text, several]}})
        single = Taken(fields, {**narrowed, "q": {"anyOf": [text]}})
        return {JSON: (listed,), FORM: (single,), MULTIPART: (single,)}

    return [
        Operation(
            "POST", "/translate", "Translate a text or a list of texts", dialect.translate,
            TextAnswer | TextsAnswer, bodies(TranslateFields, **languages),
        ),
        Operation(
            "POST", "/detect", "The language of a text", dialect.detect, list[Detected],
            bodies(DetectFields),
        ),
        Operation(
            "GET", "/languages", "Languages and what they can be translated to",
            dialect.languages, list[Described],
        ),
        Operation("GET", "/health", "Whether the server is up", dialect.health, Health),
        Operation(
            "GET", "/frontend/settings", "What a page should know", dialect.settings, Frontend
        ),
    ]  # fmt: skip


class LibreTranslate:
    """Answers the requests of the dialect."""

    def __init__(self, service: Service, access: Access) -> None:
        self._service = service
        self._access = access

    async def translate(self, request: Request) -> Response:
        """POST /translate."""
        client, service = RequestClient(request), self._service
        asked = checked(TranslateFields, await self._fields(request))
        texts = asked.texts
        cost = cost_of(texts, _wanted(asked).options.beam_size)
        self._access.check(client.address, asked.api_key, cost)
        if asked.format not in FORMATS:
            raise Refused(400, f"{asked.format[:40]} format is not supported")
        service.check_size(texts)
        with service.accepted():
            way = await direction(service, client, asked.source, asked.target, texts)
            if way.model is None:
                answers = [Answer(text) for text in texts]
            elif asked.format == "html":
                answers = await service.html(client, way.model, texts)
            else:
                answers = await service.texts(client, way.model, texts, _wanted(asked))
        return JSONResponse(_shown(asked, way, answers))

    async def detect(self, request: Request) -> Response:
        """POST /detect."""
        asked = checked(DetectFields, await self._fields(request))
        cost = cost_of(asked.texts, beam_size=1)
        self._access.check(RequestClient(request).address, asked.api_key, cost)
        self._service.check_size(asked.texts)
        with self._service.accepted():
            ranking = await asyncio.to_thread(self._service.detector.detect, asked.texts)
        return JSONResponse([asdict(guess) for guess in ranking])

    async def languages(self, request: Request) -> Response:
        """GET /languages: what pages ask for first."""
        self._service.detector.warm()
        return JSONResponse(self._service.models.described())

    async def health(self, request: Request) -> Response:
        """GET /health."""
        return JSONResponse(Health(status="ok"))

    async def settings(self, request: Request) -> Response:
        """GET /frontend/settings."""
        _, target = self._service.models.pairs[0]
        return JSONResponse(
            Frontend(
                charLimit=self._service.limits.characters,
                frontendTimeout=TYPING_MILLISECONDS,
                apiKeys=bool(self._access.keys),
                keyRequired=bool(self._access.keys),
                suggestions=False,
                filesTranslation=bool(self._service.limits.file_bytes),
                supportedFilesFormat=file_suffixes() if self._service.limits.file_bytes else [],
                language=Pair(
                    source=Named(code=AUTO, name="Auto Detect"),
                    target=Named(code=target, name=name_of(target)),
                ),
            )
        )

    async def _fields(self, request: Request) -> dict[str, Any]:
        body = await read_body(request, self._service.limits)
        content_type = request.headers.get("content-type", "")
        fields = parse_fields(body, content_type, request.scope["query_string"])
        q = fields.get("q")
        if isinstance(q, str) and not is_json(content_type):
            # forms end lines with two characters, which would count twice
            fields["q"] = q.replace("\r\n", "\n")
        return fields


def _wanted(asked: TranslateFields) -> Wanted:
    n_best = max(0, asked.alternatives) + 1
    beam_size = max(SearchOptions().beam_size, n_best)
    return Wanted(options=SearchOptions(beam_size=beam_size, n_best=n_best))


def _shown(asked: TranslateFields, way: Direction, answers: list[Answer]) -> dict[str, Any]:
    shown: dict[str, Any] = {"translatedText": [answer.text for answer in answers]}
    if way.detected:
        shown["detectedLanguage"] = [asdict(way.detected)] * len(answers)
    if asked.alternatives > 0:
        shown["alternatives"] = [list(answer.alternatives) for answer in answers]
    single = isinstance(asked.q, str)
    return {name: value[0] for name, value in shown.items()} if single else shown
