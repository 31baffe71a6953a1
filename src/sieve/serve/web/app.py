"""The ASGI application: a route for each operation of every dialect, and those of the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sieve.serve.access import Access, read_keys
from sieve.serve.dialects import dialects
from sieve.serve.refusal import Refused
from sieve.serve.service import Service
from sieve.serve.settings import Settings
from sieve.serve.telemetry import CONTENT_TYPE
from sieve.serve.web.openapi import schema
from sieve.serve.web.operation import Operation
from sieve.serve.web.pages import page_routes
from sieve.serve.web.watch import Refusals, Watch


def make_app(
    service: Service, settings: Settings, started: Callable[[], None] = lambda: None
) -> Starlette:
    """The application of a server.

    Args:
        service: Translates; closed after the last answer.
        settings: Keys, limits, and the origin whose pages may ask from a browser.
        started: Called when the server begins.
    """
    operations = _operations(service, settings)
    routes = [Route(each.path, each.handle, methods=[each.method]) for each in operations]
    pages = page_routes()
    labels = {route.path: route.path for route in routes} | {route.path: "page" for route in pages}
    refusals = Refusals(service.telemetry)
    watch = Middleware(Watch, telemetry=service.telemetry, labels=labels, cors=settings.cors)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        started()
        yield
        service.close()

    app = Starlette(
        routes=[*routes, *pages],
        middleware=[watch],
        exception_handlers={Refused: refusals.refused, HTTPException: refusals.not_routed},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


def _operations(service: Service, settings: Settings) -> list[Operation]:
    """Those of all dialects, and what the server says of itself."""
    keys = read_keys(settings.api_keys) if settings.api_keys else frozenset[bytes]()
    access = Access(keys, settings.limits.a_minute)
    spoken = [
        operation for dialect in dialects() for operation in dialect.operations(service, access)
    ]
    return _with_schema([*spoken, _metrics(service)])


def _metrics(service: Service) -> Operation:
    async def metrics(request: Request) -> Response:
        return Response(service.telemetry.text(), media_type=CONTENT_TYPE)

    return Operation(
        "GET", "/metrics", "Numbers for Prometheus", metrics, str, answer_type="text/plain"
    )


def _with_schema(operations: Sequence[Operation]) -> list[Operation]:
    async def described(request: Request) -> Response:
        return document

    every = [
        *operations,
        Operation("GET", "/openapi.json", "This schema", described, dict[str, Any]),
    ]
    document = JSONResponse(schema(every))
    return every
