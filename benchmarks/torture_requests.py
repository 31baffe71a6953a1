"""Requests that are malformed in every way: the server answers 2xx, 4xx or 503, and lives on."""

import json
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from serving import Site, running

from sieve.serve.models import open_models

PATHS = ["/translate", "/detect", "/v1/translate", "/languages", "/health", "/metrics", "/%ff", "/"]
ODD: list[Any] = [
    None, "", " ", "\ud800", "\x00", -1, 0, 10**30, 1e308, True, [], {}, [[]], ["a"] * 300,
    "x" * 30_000, "e\u0301" * 500, "en", "de", "auto", "html", "nvs", "lexicon:2", "fused:0.5",
    "frequent:-1", ["bda", 7],
]  # fmt: skip
KEYS = [
    "q", "source", "target", "format", "alternatives", "api_key", "texts", "selection", "threshold",
    "include", "exclude", "beam_size", "explain", "other",
]  # fmt: skip
KINDS = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data", "x"]
GOOD = {"q": "Good morning.", "source": "en", "target": "de"}
EVERY = 50
"""Cases between two looks at whether good requests are answered."""


def cases(first: int, scratch: Path) -> Iterator[str]:
    """See `torture.Cases`."""
    with running(open_models(["en-de"])) as site:
        number = first
        while True:
            yield _case(site, random.Random(number))
            if number % EVERY == 0 and site.post("/translate", GOOD).status != 200:
                yield "FAIL: a good request is not answered"
                number += 1
            number += 1


def _case(site: Site, rng: random.Random) -> str:
    raw = _request(rng)
    if rng.random() < 0.5:
        raw = _damaged(raw, rng)
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as sock:
        try:
            sock.sendall(raw)
            if rng.random() < 0.1:
                return "left"
            sock.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: sock.recv(2**16), b""))
        except ConnectionError:
            return "closed"
        except TimeoutError:
            return f"FAIL hang: {raw[:200]!r}"
    final = answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    status = int(final.split(b" ", 2)[1]) if final.startswith(b"HTTP/1.1 ") else 0
    allowed = not status or status < 500 or status == 503
    return f"{status}" if allowed else f"FAIL {status}: {raw[:200]!r}"


def _request(rng: random.Random) -> bytes:
    values = {rng.choice(KEYS): rng.choice(ODD) for _ in range(rng.randrange(5))}
    body = json.dumps({**(GOOD if rng.random() < 0.7 else {}), **values}).encode()
    kind = rng.choice(KINDS)
    method = rng.choice(["POST", "POST", "POST", "GET", "PUT", "BREW"])
    first = f"{method} {rng.choice(PATHS)} HTTP/1.{rng.choice('01')}"
    head = f"{first}\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _damaged(raw: bytes, rng: random.Random) -> bytes:
    changed = bytearray(raw)
    for _ in range(rng.choice([1, 3, 20])):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed[: rng.choice([len(changed), rng.randrange(1, len(changed) + 1)])])
