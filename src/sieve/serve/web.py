"""Requests and responses over ASGI, and no more of the web than this server needs.

Knows nothing of translation. A request that cannot be served ends in `Refused`, which becomes
`{"error": …}` with its status.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

JSON = "application/json"


class Refused(Exception):
    """A request that is not served."""

    def __init__(
        self, status: int, message: str, reason: str = "invalid", retry_after: int = 0
    ) -> None:
        """Says why.

        Args:
            status: Of HTTP.
            message: One line for the client.
            reason: One word for the metrics.
            retry_after: Seconds after which the client may try again; 0 where that would not help.
        """
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


class Disconnected(Exception):
    """The client went away: nobody waits for an answer."""


@dataclass(frozen=True)
class Response:
    """A whole answer."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()

    async def send(self, send: Send, *, head_only: bool = False) -> None:
        """Writes the answer."""
        headers = [("content-type", self.content_type), ("content-length", str(len(self.body)))]
        headers += [("x-content-type-options", "nosniff"), *self.headers]
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await send({"type": "http.response.start", "status": self.status, "headers": raw})
        await send({"type": "http.response.body", "body": b"" if head_only else self.body})


def as_json(value: Any, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """An answer in JSON."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Response(status, text.encode("utf-8"), JSON, headers)


def refusal(refused: Refused) -> Response:
    """The answer that says why there is none."""
    headers = (("retry-after", str(refused.retry_after)),) if refused.retry_after else ()
    return as_json({"error": str(refused)}, refused.status, headers)


@dataclass
class Request:
    """One request of a client."""

    scope: Scope
    receive: Receive
    headers: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in self.scope["headers"]
        }

    @property
    def method(self) -> str:
        """GET, POST and so on."""
        return str(self.scope["method"])

    @property
    def path(self) -> str:
        """Without the query."""
        return str(self.scope["path"])

    @property
    def query(self) -> bytes:
        """What follows the question mark."""
        return bytes(self.scope.get("query_string", b""))

    @property
    def client(self) -> str:
        """The client's address."""
        address = self.scope.get("client")
        return str(address[0]) if address else ""

    @property
    def content_type(self) -> str:
        """Of the body, as it was sent."""
        return self.headers.get("content-type", "")

    async def body(self, limit: int, seconds: float) -> bytes:
        """The whole body, unless it is too long or takes too long."""
        announced = self.headers.get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced[:20]) > limit:
            raise _too_large(limit)
        try:
            return await asyncio.wait_for(self._read(limit), seconds)
        except asyncio.TimeoutError:
            raise Refused(
                408, f"the request was not sent within {seconds:g} seconds", "slow"
            ) from None

    async def _read(self, limit: int) -> bytes:
        body = bytearray()
        while True:
            message = await self.receive()
            body += message.get("body", b"")
            if message["type"] == "http.disconnect" or len(body) > limit:
                too_large = len(body) > limit
                body.clear()  # an error keeps its frame for a while, and the frame the body
                raise _too_large(limit) if too_large else Disconnected
            if not message.get("more_body", False):
                return bytes(body)

    async def gone(self) -> None:
        """Returns when the client has gone away; to be asked once the body is read."""
        while (await self.receive())["type"] != "http.disconnect":
            pass


def _too_large(limit: int) -> Refused:
    return Refused(413, f"the request has more than {limit} bytes, send less text", "too_large")
