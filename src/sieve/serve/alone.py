"""A server that is one process: its models, its keys, and how it reads both anew."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence

from sieve.errors import SieveError
from sieve.log import logger
from sieve.serve.access import keys_of
from sieve.serve.access_log import AccessLog
from sieve.serve.common import Common
from sieve.serve.models import Models, offers_of, opened
from sieve.serve.run import serve
from sieve.serve.service import Service
from sieve.serve.settings import Settings


def serve_alone(
    names: Sequence[str],
    settings: Settings,
    sock: socket.socket,
    started: Callable[[Sequence[str]], None],
) -> None:
    """Serves until a signal comes.

    Args:
        names: Of models.
        settings: Limits, keys, log.
        sock: From `listen`.
        started: Called with the names of the models when the first request can come.
    """
    keys = keys_of(settings.api_keys)
    models = Models(offers_of(names), opened)
    if not settings.idle_minutes:
        models.open_all()
    log = AccessLog(settings.access_log, settings.log_texts) if settings.access_log else None
    service = Service(models, settings, Common(keys=lambda: keys, log=log))
    lock = threading.Lock()

    def reload() -> None:
        nonlocal keys
        with lock:
            try:
                offers, fresh = offers_of(names), keys_of(settings.api_keys)
                renewed = service.models.renewed(offers, opened, not settings.idle_minutes)
            except (SieveError, OSError) as error:
                logger.error("not reloaded, everything stays as it was: %s", error)
                return
            service.renew(renewed)
            keys = fresh
            logger.info("reloaded: %s", ", ".join(renewed.names))

    serve(service, settings, sock, lambda: started(models.names), reload)
