"""What a server does every second: gives a sign of life, closes models that nobody asks for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from sieve.errors import SieveError
from sieve.serve.service import Service
from sieve.serve.shared.board import BEAT_SECONDS


@asynccontextmanager
async def beating(service: Service, idle_minutes: float) -> AsyncIterator[None]:
    """While a server serves."""
    service.telemetry.begun()
    service.beat()

    async def beat() -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            service.beat()
            if idle_minutes:
                # in a thread: the supervisor, which is told, may be busy copying a large model
                with suppress(SieveError):  # it is gone, and this worker soon
                    await asyncio.to_thread(service.models.close_idle, 60 * idle_minutes)

    task = asyncio.ensure_future(beat())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
