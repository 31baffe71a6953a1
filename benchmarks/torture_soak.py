"""A server under constant load, a minute a case: its memory stays within two per cent."""

import math
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from serving import Site, running

from sieve.serve.models import open_models

CLIENTS = 4
MINUTE = 60.0
PAUSE = 0.2
"""Seconds between two requests of a client: what is asked is how much stays, not how fast."""
WARM = 3
"""Minutes before memory is compared."""
MOST = 2
"""Per cent that it may differ."""
TEXTS = ["Good morning.", "The house is green. It was built in 1999 by Ada.", "It rains. " * 20]


def cases(first: int, scratch: Path) -> Iterator[str]:
    """See `torture.Cases`; the first minutes are for warming up."""
    with running(open_models(["en-de"])) as site:
        for _ in range(WARM):
            _minute(site)
        before = _resident()
        while True:
            answered, resident = _minute(site), _resident()
            differs = math.ceil(100 * abs(resident - before) / before)
            if differs > MOST:
                yield f"FAIL: {resident} bytes after a minute, {before} before"
            elif not answered:
                yield "FAIL: nothing was answered"
            else:
                yield f"within {differs} %"


def _resident() -> int:
    return int(psutil.Process().memory_info().rss)


def _minute(site: Site) -> int:
    """Answers of a minute."""
    end, answered = time.monotonic() + MINUTE, [0] * CLIENTS

    def ask(client: int) -> None:
        while time.monotonic() < end:
            text = f"{TEXTS[answered[client] % len(TEXTS)]} {answered[client]}"
            answer = site.post("/translate", {"q": text, "source": "en", "target": "de"})
            answered[client] += answer.status == 200
            time.sleep(PAUSE)

    threads = [threading.Thread(target=ask, args=(client,)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(answered)
