"""LibreTranslate's API: the same fields, status codes and error texts, so that its clients work."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from sieve.engines.options import SearchOptions
from sieve.serve.access import Access
from sieve.serve.asked import AUTO, Direction, direction, language, whole
from sieve.serve.fields import is_json, parse_fields
from sieve.serve.languages import name_of
from sieve.serve.service import Answer, Service
from sieve.serve.settings import MAX_ALTERNATIVES
from sieve.serve.web import Refused, Request, Response, as_json
from sieve.translate.translation import Request as Wanted

FORMATS = ("text", "html")
TYPING_MILLISECONDS = 500
"""That a page should wait for the next letter, as LibreTranslate tells its own."""


class LibreTranslate:
    """The routes of the dialect."""

    def __init__(self, service: Service, access: Access) -> None:
        self._service = service
        self._access = access

    async def translate(self, request: Request) -> Response:
        """POST /translate."""
        fields = await self._fields(request)
        texts, many = _texts(fields, request)
        self._access.check(request.client, fields.get("api_key"), len(texts))
        source, target = language(fields, "source"), language(fields, "target")
        alternatives, form = _alternatives(fields), _format(fields)
        service = self._service
        service.check_size(texts)
        with service.accepted():
            way = await direction(service.models, service.detector, source, target, texts)
            answers = await self._answers(request, way, texts, alternatives, form)
        found: dict[str, Any] = {"translatedText": [answer.text for answer in answers]}
        if way.detected:
            found["detectedLanguage"] = [asdict(way.detected)] * len(texts)
        if alternatives:
            found["alternatives"] = [list(answer.alternatives) for answer in answers]
        return as_json(found if many else {name: value[0] for name, value in found.items()})

    async def _answers(
        self, request: Request, way: Direction, texts: list[str], alternatives: int, form: str
    ) -> list[Answer]:
        if way.model is None:
            return [Answer(text) for text in texts]
        if form == "html":
            found = await self._service.html(request, way.model, texts)
            return [Answer(text) for text in found]
        default = SearchOptions()
        n_best = alternatives + 1
        options = SearchOptions(beam_size=max(default.beam_size, n_best), n_best=n_best)
        return await self._service.texts(request, way.model, texts, Wanted(options=options))

    async def detect(self, request: Request) -> Response:
        """POST /detect."""
        fields = await self._fields(request)
        texts, _ = _texts(fields, request)
        self._access.check(request.client, fields.get("api_key"), 1)
        self._service.check_size(texts)
        with self._service.accepted():
            found = await asyncio.to_thread(self._service.detector.detect, texts)
        return as_json([asdict(one) for one in found])

    async def languages(self, request: Request) -> Response:
        """GET /languages: what pages ask for first."""
        self._service.detector.warm()
        return as_json(self._service.models.described())

    async def health(self, request: Request) -> Response:
        """GET /health."""
        return as_json({"status": "ok"})

    async def settings(self, request: Request) -> Response:
        """GET /frontend/settings."""
        _, target = self._service.models.pairs[0]
        return as_json(
            {
                "charLimit": self._service.limits.characters,
                "frontendTimeout": TYPING_MILLISECONDS,
                "apiKeys": bool(self._access.keys),
                "keyRequired": bool(self._access.keys),
                "suggestions": False,
                "filesTranslation": False,
                "supportedFilesFormat": [],
                "language": {
                    "source": {"code": AUTO, "name": "Auto Detect"},
                    "target": {"code": target, "name": name_of(target)},
                },
            }
        )

    async def _fields(self, request: Request) -> dict[str, Any]:
        limits = self._service.limits
        body = await request.body(limits.body_bytes, limits.sending_seconds)
        return parse_fields(body, request.content_type, request.query)


def _texts(fields: dict[str, Any], request: Request) -> tuple[list[str], bool]:
    """The texts, and whether there may be several."""
    q = fields.get("q")
    if not q:
        raise Refused(400, "Invalid request: missing q parameter")
    if isinstance(q, str):
        # forms end lines with two characters, which would count twice
        return [q if is_json(request.content_type) else q.replace("\r\n", "\n")], False
    if isinstance(q, list) and all(isinstance(item, str) for item in q):
        return q, True
    raise Refused(400, "Invalid request: q parameter is not a string or a list of strings")


def _alternatives(fields: dict[str, Any]) -> int:
    number = whole(fields.get("alternatives", 0))
    if number is None:
        raise Refused(400, "Invalid request: alternatives parameter is not a number")
    if number > MAX_ALTERNATIVES:
        raise Refused(400, f"Invalid request: alternatives parameter must be <= {MAX_ALTERNATIVES}")
    return max(0, number)


def _format(fields: dict[str, Any]) -> str:
    value = fields.get("format", "")
    if value not in ("", *FORMATS):
        raise Refused(400, f"{str(value)[:40]} format is not supported")
    return str(value) or FORMATS[0]
