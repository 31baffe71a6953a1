"""Reads the body of a request within its limits, and notices when the client has left.

Knows nothing of what a body says; that is `fields`.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass

from starlette.requests import Request

from sieve.serve.access_log import Note
from sieve.serve.refusal import Refused
from sieve.serve.settings import Limits

NOTE = "sieve.note"
"""Where a scope has what the log will say of the request."""
BODY = "sieve.body"
"""Where a scope has a body that was read to find out whose it is, until it is asked for."""


async def read_body(request: Request, limits: Limits, most: int = 0) -> bytes:
    """The whole body, unless it is too long or takes too long; `most` bytes, or as texts have."""
    if BODY in request.scope:
        body: bytes = request.scope.pop(BODY)
        return body
    most = most or limits.body_bytes
    announced = request.headers.get("content-length", "")
    if announced.isascii() and announced.isdigit() and int(announced[:20]) > most:
        raise _too_large(most)
    try:
        return await asyncio.wait_for(_received(request, most), limits.sending_seconds)
    except asyncio.TimeoutError:
        raise Refused(
            408, f"the request was not sent within {limits.sending_seconds:g} seconds", "slow"
        ) from None


async def _received(request: Request, limit: int) -> bytes:
    body = bytearray()
    async with aclosing(request.stream()) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) > limit:
                body.clear()  # the error keeps this frame for a while, and the frame the body
                raise _too_large(limit)
    return bytes(body)


@dataclass(frozen=True)
class RequestClient:
    """The client of a request whose body is read."""

    request: Request

    @property
    def address(self) -> str:
        """Where the request comes from."""
        return self.request.client.host if self.request.client else ""

    @property
    def note(self) -> Note:
        """What the log will say of the request."""
        note: Note = self.request.scope[NOTE]
        return note

    async def gone(self) -> None:
        """Returns when the client has disconnected."""
        while (await self.request.receive())["type"] != "http.disconnect":
            pass


def _too_large(limit: int) -> Refused:
    return Refused(413, f"the request has more than {limit} bytes, send less text", "too_large")
