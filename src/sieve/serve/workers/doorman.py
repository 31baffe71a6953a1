"""Accepts connections for one worker of several, so that each gets about as many as the others.

asyncio would let the worker that wakes up first take all connections that wait. Here a worker takes
one at a time, and one that has more than another lets the others go first.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import uvicorn

from sieve.log import logger
from sieve.serve.shared.board import Board

PAUSE_SECONDS = 0.005
"""For which a worker with more connections leaves the next one to others."""
OUT_OF_FILES_SECONDS = 1.0


class Doorman:
    """Stands at the socket that workers share; uvicorn closes it like a server of its own."""

    def __init__(
        self, sock: socket.socket, protocol: Callable[[], asyncio.Protocol], board: Board
    ) -> None:
        """Waits until it is opened.

        Args:
            sock: To accept connections on.
            protocol: Makes what serves a connection.
            board: Says how busy the others are.
        """
        self._sock, self._protocol, self._board = sock, protocol, board
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[object]] = set()
        sock.setblocking(False)

    def open(self) -> None:
        """Accepts connections from now on."""
        self._pause = None
        self._loop.add_reader(self._sock, self._look)

    def close(self) -> None:
        """Accepts no more."""
        if self._sock.fileno() >= 0:
            self._loop.remove_reader(self._sock)
            self._sock.close()
        if self._pause is not None:
            self._pause.cancel()

    async def wait_closed(self) -> None:
        """As servers of asyncio have it."""

    def _look(self) -> None:
        if self._board.busier(1):
            self._rest(PAUSE_SECONDS)
        else:
            self._accept()

    def _rest(self, seconds: float) -> None:
        self._loop.remove_reader(self._sock)
        self._pause = self._loop.call_later(seconds, self._resume)

    def _resume(self) -> None:
        self.open()
        self._accept()

    def _accept(self) -> None:
        try:
            connection, _ = self._sock.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return  # another worker has it, or the client has left
        except OSError as error:
            logger.error("cannot accept connections: %s", error.strerror or error)
            self._rest(OUT_OF_FILES_SECONDS)
            return
        task = self._loop.create_task(self._serve(connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: socket.socket) -> object:
        try:
            return await self._loop.connect_accepted_socket(self._protocol, connection)
        except OSError:
            connection.close()  # reset before it began
            return None


class SharingServer(uvicorn.Server):
    """uvicorn's server on a socket that other processes accept connections on, too."""

    def __init__(self, config: uvicorn.Config, sock: socket.socket, board: Board) -> None:
        super().__init__(config)
        self._sock, self._board = sock, board

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server`."""
        await super().startup(sockets=[])
        doorman = Doorman(self._sock, self._connection, self._board)
        self.servers.append(doorman)  # type: ignore[arg-type]
        doorman.open()

    def _connection(self) -> asyncio.Protocol:
        return self.config.http_protocol_class(  # type: ignore[call-arg]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
