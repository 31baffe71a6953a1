"""A server from settings and models: the socket, uvicorn, signals. Only here: uvicorn."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import cast

import uvicorn

from sieve.errors import InputError
from sieve.serve.service import Service
from sieve.serve.settings import Settings
from sieve.serve.web.app import make_app
from sieve.serve.web.connection import Connection

BACKLOG = 512
PARTING_SECONDS = 5
"""For answers still being sent when the server ends."""
IDLE_SECONDS = 30
"""For which an idle connection is kept."""


def listen(settings: Settings) -> socket.socket:
    """A socket that clients can connect to, or an error that says why not."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # named in full: for no other protocol asyncio sends small packets at once
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((settings.host, settings.port))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise InputError(
            f"cannot listen on {settings.host}, port {settings.port}: {error.strerror or error}; "
            "choose others with --host and --port"
        ) from None
    return sock


def serve(
    service: Service,
    settings: Settings,
    sock: socket.socket,
    started: Callable[[], None],
    reload: Callable[[], None],
) -> None:
    """Serves until a signal comes, then finishes what was accepted.

    Args:
        service: Translates.
        settings: Limits and keys; the address is that of the socket.
        sock: From `listen`.
        started: Called when the first request can come.
        reload: Called in a thread on SIGHUP.
    """
    server = make_server(service, settings, started)
    if threading.current_thread() is threading.main_thread():
        # uvicorn raises a signal again when it has done what the signal asked for
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _done)
        on_hangup(lambda: threading.Thread(target=reload, daemon=True).start())
    server.run(sockets=[sock])


def make_server(
    service: Service, settings: Settings, started: Callable[[], None] = lambda: None
) -> uvicorn.Server:
    """The application in a web server."""
    return uvicorn.Server(configured(service, settings, started))


def configured(
    service: Service, settings: Settings, started: Callable[[], None] = lambda: None
) -> uvicorn.Config:
    """What uvicorn is told."""
    return uvicorn.Config(
        make_app(service, settings, started),
        # a factory: uvicorn calls it for each connection
        http=cast("type[Connection]", partial(Connection, settings, service.common.board)),
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=[*settings.proxies],
        server_header=False,
        timeout_keep_alive=IDLE_SECONDS,
        # accepted work ends by itself within its limit; a client that never reads does not
        timeout_graceful_shutdown=int(settings.limits.seconds) + PARTING_SECONDS,
        backlog=BACKLOG,
    )


def on_hangup(reload: Callable[[], None]) -> None:
    """Calls a function on SIGHUP; where that means that the terminal has gone, the process ends."""
    if sys.platform == "win32":
        return
    has_terminal = _has_terminal()

    def hung_up(number: int, frame: FrameType | None) -> None:
        if has_terminal and not _has_terminal():
            signal.raise_signal(signal.SIGTERM)
        else:
            reload()

    signal.signal(signal.SIGHUP, hung_up)


def _has_terminal() -> bool:
    try:
        open("/dev/tty", "rb").close()
    except OSError:
        return False
    return True


def _done(number: int, frame: FrameType | None) -> None:
    """The server has ended as it was asked to."""
