"""The ASGI application: which path is whose, and what becomes of errors."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping

from sieve.log import logger
from sieve.serve.access import Access, read_keys
from sieve.serve.dialects.libretranslate import LibreTranslate
from sieve.serve.dialects.v1 import V1
from sieve.serve.metrics import CONTENT_TYPE
from sieve.serve.openapi import schema
from sieve.serve.pages import page_routes
from sieve.serve.service import Service
from sieve.serve.settings import Settings
from sieve.serve.web import (
    Disconnected,
    Receive,
    Refused,
    Request,
    Response,
    Scope,
    Send,
    as_json,
    refusal,
)

Handler = Callable[[Request], Awaitable[Response]]
Routes = Mapping[str, Mapping[str, Handler]]


class App:
    """Answers requests; made once for a server."""

    def __init__(self, service: Service, settings: Settings) -> None:
        self.service = service
        keys = read_keys(settings.api_keys) if settings.api_keys else frozenset[bytes]()
        access = Access(keys, settings.limits.a_minute)
        self._cors = _cors_headers(settings.cors)
        self._schema = as_json(schema(service.models, settings.limits))
        pages = page_routes()
        self.routes: Routes = {
            **self._api_routes(LibreTranslate(service, access), V1(service, access)),
            **{path: {"GET": handler} for path, handler in pages.items()},
        }
        self._pages = set(pages)

    def _api_routes(self, libre: LibreTranslate, own: V1) -> Routes:
        return {
            "/translate": {"POST": libre.translate},
            "/detect": {"POST": libre.detect},
            "/languages": {"GET": libre.languages},
            "/health": {"GET": libre.health},
            "/frontend/settings": {"GET": libre.settings},
            "/v1/translate": {"POST": own.translate},
            "/openapi.json": {"GET": self._openapi},
            "/metrics": {"GET": self._metrics},
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        begin = time.perf_counter()
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except Disconnected:
            self.service.metrics.refused("abandoned")
            return
        if self._cors:
            response = Response(
                response.status,
                response.body,
                response.content_type,
                response.headers + self._cors,
            )
        await response.send(send, head_only=request.method == "HEAD")
        self.service.metrics.answered(
            self._label(request.path), response.status, time.perf_counter() - begin
        )

    async def _answer(self, request: Request) -> Response:
        try:
            return await self._handler(request)(request)
        except Refused as refused:
            self.service.metrics.refused(refused.reason)
            allowed = self.routes.get(request.path, {})
            response = refusal(refused)
            if refused.status != 405:
                return response
            return Response(405, response.body, headers=(("allow", _allow(allowed)),))
        except Disconnected:
            raise
        except Exception:
            logger.exception("%s %s failed", request.method, request.path)
            self.service.metrics.refused("failed")
            return as_json({"error": "the server made a mistake; its log says more"}, 500)

    def _handler(self, request: Request) -> Handler:
        methods = self.routes.get(request.path)
        if methods is None:
            raise Refused(404, "there is nothing here; /openapi.json says what is", "not_found")
        if request.method == "OPTIONS" and self._cors:
            return _preflight
        method = "GET" if request.method == "HEAD" else request.method
        if method not in methods:
            raise Refused(405, f"expected {_allow(methods)}", "method")
        return methods[method]

    def _label(self, path: str) -> str:
        """Few labels, whatever clients ask for."""
        if path in self._pages:
            return "page"
        return path if path in self.routes else "other"

    async def _openapi(self, request: Request) -> Response:
        return self._schema

    async def _metrics(self, request: Request) -> Response:
        return Response(200, self.service.metrics.text(), CONTENT_TYPE)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        """The web server says when it begins and, after the last answer, when it ends."""
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.service.close()
        await send({"type": "lifespan.shutdown.complete"})


async def _preflight(request: Request) -> Response:
    return Response(204, b"")


def _allow(methods: Mapping[str, Handler]) -> str:
    return ", ".join([*methods, *(["HEAD"] if "GET" in methods else [])])


def _cors_headers(origin: str) -> tuple[tuple[str, str], ...]:
    if not origin:
        return ()
    return (
        ("access-control-allow-origin", origin),
        ("access-control-allow-methods", "GET, POST"),
        ("access-control-allow-headers", "Content-Type"),
        ("vary", "Origin"),
    )
