"""Closes connections whose request head does not arrive, or never ends.

uvicorn waits forever for the head of a request, and keeps reading a body that was refused. It has
no option for either, so this derives from its HTTP protocol, and pyproject.toml caps its version.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
"""Within which the head of a request must arrive, and the rest of a refused one."""
HEAD_BYTES = 2**16
REFUSED_BYTES = 2**24
"""Of a refused body that are still read, so that the client sees the answer."""
MOST_CONNECTIONS = 800


class Connection(HttpToolsProtocol):
    """uvicorn's connection, with limits where it has none."""

    _timer: asyncio.TimerHandle | None = None
    _unparsed = 0
    """Bytes since the last head was complete that belong to no running request."""

    def connection_made(self, transport: Any) -> None:
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self._cut()
        else:
            self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._disarm()
        if self.timeout_keep_alive_task is not None:
            # after a reset uvicorn lets it run, and it holds all that came over the connection
            self.timeout_keep_alive_task.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.transport.is_closing():
            return
        answered = self.cycle is not None and self.cycle.response_complete
        if self.cycle is None or answered:
            self._unparsed += len(data)
            if self._unparsed > (REFUSED_BYTES if answered else HEAD_BYTES):
                self._cut()
            else:
                self._arm()

    def on_headers_complete(self) -> None:
        """The head is complete: from here on the application watches the clock."""
        self._disarm()
        self._unparsed = 0
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Answered; if that was before the end of the body, the rest must arrive soon."""
        super().on_response_complete()
        if self.cycle.more_body:
            self._arm()

    def _arm(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self._cut)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cut(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.close()
