"""A server under constant load, a minute a case: its memory stays within two per cent."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from serving import Site, running

from sieve.serve.models import open_models

CLIENTS = 4
MINUTE = 60.0
GROWTH = 1.02
TEXTS = ["Good morning.", "The house is green. It was built in 1999 by Ada.", "It rains. " * 20]


def cases(first: int, scratch: Path) -> Iterator[str]:
    """See `torture.Cases`; the first minute is for warming up."""
    with running(open_models(["en-de"])) as site:
        before = 0
        while True:
            answered = _minute(site)
            resident = psutil.Process().memory_info().rss
            if before and resident > GROWTH * before:
                yield f"FAIL: {resident} bytes after a minute, {before} before"
            elif not answered:
                yield "FAIL: nothing was answered"
            elif before:
                yield "flat"
            before = before or resident


def _minute(site: Site) -> int:
    """Answers of a minute."""
    end, answered = time.monotonic() + MINUTE, [0] * CLIENTS

    def ask(client: int) -> None:
        while time.monotonic() < end:
            text = TEXTS[answered[client] % len(TEXTS)]
            answer = site.post("/translate", {"q": text, "source": "en", "target": "de"})
            answered[client] += answer.status == 200

    threads = [threading.Thread(target=ask, args=(client,)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(answered)
