"""What surrounds every request: its time and status are counted, errors become answers in JSON."""

from __future__ import annotations

import time
from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sieve.log import logger
from sieve.serve.refusal import Abandoned, Refused
from sieve.serve.telemetry import Telemetry


class Watch:
    """ASGI middleware: counts requests, adds headers, and answers when the server is at fault."""

    def __init__(
        self, app: ASGIApp, telemetry: Telemetry, labels: Mapping[str, str], cors: str
    ) -> None:
        """Wraps an application.

        Args:
            app: Answers requests.
            telemetry: Where they are counted.
            labels: What a path is called there; any other path is `other`.
            cors: The origin whose pages may ask from a browser; none where it is empty.
        """
        self._app = app
        self._telemetry = telemetry
        self._labels = labels
        self._headers = [(b"x-content-type-options", b"nosniff"), *_cors_headers(cors)]
        self._preflights = bool(cors)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, status = time.perf_counter(), 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *self._headers]}
            await send(message)

        label = self._labels.get(scope["path"], "other")
        app = self._app
        if self._preflights and scope["method"] == "OPTIONS" and label != "other":
            app = Response(status_code=204)
        try:
            await app(scope, receive, sent)
        except (Abandoned, ClientDisconnect):
            self._telemetry.refused("abandoned")
            return
        except Exception:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            self._telemetry.refused("failed")
            await _error(500, "internal error: see the log of the server")(scope, receive, sent)
        self._telemetry.answered(label, status, time.perf_counter() - begin)


class Refusals:
    """Exception handlers of Starlette: `{"error": …}`, counted by reason."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry

    async def refused(self, request: Request, error: Exception) -> Response:
        """A request that a dialect or a limit refuses."""
        assert isinstance(error, Refused)
        self._telemetry.refused(error.reason)
        headers = {"retry-after": str(error.retry_after)} if error.retry_after else {}
        return _error(error.status, str(error), headers)

    async def not_routed(self, request: Request, error: Exception) -> Response:
        """A path that is not served, or not with this method."""
        assert isinstance(error, HTTPException)
        if error.status_code == 405:
            self._telemetry.refused("method")
            allowed = ", ".join(sorted((error.headers or {})["Allow"].split(", ")))
            return _error(405, f"expected {allowed}", {"allow": allowed})
        self._telemetry.refused("not_found")
        return _error(404, "not found; /openapi.json lists what is served")


def _error(status: int, text: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": text}, status, headers)


def _cors_headers(origin: str) -> list[tuple[bytes, bytes]]:
    """The same for every request, so that caches need not know who asks."""
    if not origin:
        return []
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-allow-methods", b"GET, POST"),
        (b"access-control-allow-headers", b"Content-Type"),
        (b"vary", b"Origin"),
    ]
