"""Closes connections that are too many or send no request, and answers half-closed ones.

uvicorn waits forever for the head of a request, keeps reading a body that was refused, lets one
address take every connection, and drops the answer to a client that has ended its own side. It has
no option for any of it, so this derives from its HTTP protocol; pyproject.toml caps its version.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sieve.serve.access import client_of
from sieve.serve.settings import Settings
from sieve.serve.shared.board import Board

HEAD_SECONDS = 10.0
"""Within which the head of a request must arrive, and the rest of a refused one."""
HEAD_BYTES = 2**16
REFUSED_BYTES = 2**24
"""Of a refused body that are still read, so that the client sees the answer."""
LOOK_SECONDS = 0.1
"""Between looks at whether a client that has ended its side is still there."""
PROBE = b"HTTP/1.1 100 Continue\r\n\r\n"
"""What any client of HTTP/1.1 passes over; one that has gone answers it with a reset."""
_HALF_CLOSED = 8  # TCP_CLOSE_WAIT of Linux: the client has ended its side, and nothing else


class Connection(HttpToolsProtocol):
    """uvicorn's connection, with limits where it has none."""

    _timer: asyncio.TimerHandle | None = None
    _unparsed = 0
    """Bytes since the last head was complete that belong to no running request."""
    _ended = False
    """Whether the client has ended its side."""
    _place: int | None = None
    """On the board."""

    def __init__(self, settings: Settings, board: Board, *arguments: Any, **named: Any) -> None:
        """Takes the server's settings and board, and what uvicorn gives."""
        super().__init__(*arguments, **named)
        self._board = board
        self._most = settings.limits.connections
        self._proxies = [ipaddress.ip_network(proxy) for proxy in settings.proxies]

    def connection_made(self, transport: Any) -> None:
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        origin = self._origin(transport.get_extra_info("peername"))
        self._place = self._board.connect(origin, self._most)
        if self._place is None:
            self._cut()
        else:
            self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._disarm()
        if self._place is not None:
            self._board.disconnect(self._place)
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
        if self._ended and self.cycle.response_complete:
            self._cut()

    def eof_received(self) -> bool:  # type: ignore[override]
        """The client has ended its side: it may still wait for the answer, or be gone."""
        waits = self.cycle is not None and not self.cycle.response_complete
        if not waits or self.cycle.more_body:
            return False
        self._ended = True
        if self.scope["http_version"] == "1.1" and not self.cycle.response_started:
            self.transport.write(PROBE)
        self._look()
        return True

    def _look(self) -> None:
        """Ends the connection as soon as the client turns out to be gone."""
        if self.transport.is_closing():
            return
        sock = self.transport.get_extra_info("socket")
        state = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
        if state == _HALF_CLOSED:
            self.loop.call_later(LOOK_SECONDS, self._look)
        else:
            self.transport.abort()

    def _origin(self, peer: Any) -> str:
        """Whose connection it is; empty for a proxy's."""
        client = client_of(str(peer[0])) if peer else ""
        try:
            address = ipaddress.ip_address(str(peer[0]))
        except (TypeError, ValueError):
            return client
        return "" if any(address in network for network in self._proxies) else client

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
