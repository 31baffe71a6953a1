"""The ASGI application: a route for each operation of every dialect, and those of the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from typing_extensions import TypedDict

from sieve.serve.access import Access
from sieve.serve.dialects import dialects
from sieve.serve.models import Models
from sieve.serve.refusal import Refused
from sieve.serve.service import Service
from sieve.serve.settings import Settings
from sieve.serve.telemetry import CONTENT_TYPE
from sieve.serve.web.beats import beating
from sieve.serve.web.openapi import schema
from sieve.serve.web.operation import Operation
from sieve.serve.web.pages import page_routes
from sieve.serve.web.shared_routes import one_a_route
from sieve.serve.web.watch import Refusals, Watch


class Ready(TypedDict):
    """The answer of a server that takes requests."""

    status: Literal["ready"]
    models: list[str]


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
    watch = Middleware(Watch, service=service, labels=labels, cors=settings.cors)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with beating(service, settings.idle_minutes):
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
    common = service.common
    access = Access(common.keys, settings.limits.a_minute, common.board.buckets)

    def operations() -> list[Operation]:
        spoken = [
            operation for dialect in dialects() for operation in dialect.operations(service, access)
        ]
        own = [_ready(service), _metrics(service)]
        return [*one_a_route(spoken, service.limits), *own]

    return _with_schema(service, operations)


def _ready(service: Service) -> Operation:
    async def ready(request: Request) -> Response:
        service.check_ready()
        return JSONResponse(Ready(status="ready", models=service.models.names))

    return Operation("GET", "/ready", "Whether a request would be accepted now", ready, Ready)


def _metrics(service: Service) -> Operation:
    async def metrics(request: Request) -> Response:
        return Response(service.telemetry.text(), media_type=CONTENT_TYPE)

    return Operation(
        "GET", "/metrics", "Numbers for Prometheus", metrics, str, answer_type="text/plain"
    )


def _with_schema(
    service: Service, operations: Callable[[], Sequence[Operation]]
) -> list[Operation]:
    """Operations and their schema, which is made anew where the models are others."""
    documents: dict[Models, JSONResponse] = {}

    async def described(request: Request) -> Response:
        models = service.models
        if models not in documents:
            documents.clear()
            documents[models] = JSONResponse(schema([*operations(), itself]))
        return documents[models]

    itself = Operation("GET", "/openapi.json", "This schema", described, dict[str, Any])
    return [*operations(), itself]
