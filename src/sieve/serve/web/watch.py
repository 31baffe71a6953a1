"""What surrounds every request: its time and status are counted, errors become answers in JSON."""

from __future__ import annotations

import time
from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sieve.log import logger
from sieve.serve.access_log import Note
from sieve.serve.refusal import Abandoned, Refused
from sieve.serve.service import Service
from sieve.serve.telemetry import Telemetry
from sieve.serve.web.body import NOTE

MOST_PATH = 200
"""Characters of a path in the log."""
UNEVEN = 2
"""Connections more than the least busy worker has, from which on clients are sent elsewhere."""


class Watch:
    """ASGI middleware: counts requests, adds headers, and answers when the server is at fault."""

    def __init__(
        self, app: ASGIApp, service: Service, labels: Mapping[str, str], cors: str
    ) -> None:
        """Wraps an application.

        Args:
            app: Answers requests.
            service: Where they are counted and logged.
            labels: What a path is called there; any other path is `other`.
            cors: The origin whose pages may ask from a browser; none where it is empty.
        """
        self._app = app
        self._telemetry = service.telemetry
        self._board, self._log = service.common.board, service.common.log
        self._labels = labels
        self._headers = [(b"x-content-type-options", b"nosniff"), *_cors_headers(cors)]
        self._preflights = bool(cors)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, status, size = time.perf_counter(), 0, 0
        note = scope[NOTE] = Note.of(_header(scope, b"x-request-id"))
        own = [*self._headers, (b"x-request-id", note.request_id.encode())]

        async def sent(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                # the client's next request goes to whoever has the fewest connections
                leave = [(b"connection", b"close")] if self._board.busier(UNEVEN) else []
                message = {**message, "headers": [*message["headers"], *own, *leave]}
            size += len(message.get("body", b""))
            await send(message)

        label = self._labels.get(scope["path"], "other")
        app = self._app
        if self._preflights and scope["method"] == "OPTIONS" and label != "other":
            app = Response(status_code=204)
        try:
            await app(scope, receive, sent)
        except (Abandoned, ClientDisconnect):
            self._telemetry.refused("abandoned")
            self._logged(scope, status, size, time.perf_counter() - begin)
            return
        except Exception:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            self._telemetry.refused("failed")
            await _error(500, "internal error: see the log of the server")(scope, receive, sent)
        seconds = time.perf_counter() - begin
        self._telemetry.answered(label, status, seconds)
        self._logged(scope, status, size, seconds)

    def _logged(self, scope: Scope, status: int, size: int, seconds: float) -> None:
        if self._log is None:
            return
        path = scope["raw_path"].decode("ascii", "backslashreplace")[:MOST_PATH]
        for value in scope.get("path_params", {}).values():
            path = path.replace(str(value), "...")  # who knows it has the document
        fields = {
            "client": scope["client"][0] if scope["client"] else "-", "method": scope["method"],
            "path": path, "status": status, "ms": round(1000 * seconds, 3), "bytes": size,
        }  # fmt: skip
        self._log.add(scope[NOTE], fields)


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


def _header(scope: Scope, name: bytes) -> str:
    values = [value for header, value in scope["headers"] if header == name]
    return values[0].decode("latin-1") if values else ""


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
