"""Who may use the server, and how much: API keys from a file, a rate per key or address."""

from __future__ import annotations

import hashlib
import ipaddress
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sieve.errors import InputError
from sieve.serve.refusal import Refused
from sieve.serve.shared.buckets import Buckets

TEXT_WORK = 2500
"""Characters times beam of what counts as a text: 500 characters at a beam of 5."""
_NETWORK = 64
"""Bits of an IPv6 address that tell clients apart: who has one such network has all of it."""


class Access:
    """Checks each request before it costs anything."""

    def __init__(
        self,
        keys: Callable[[], frozenset[bytes]],
        a_minute: int,
        buckets: Buckets,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Takes what it checks against.

        Args:
            keys: What `read_keys` gave last.
            a_minute: Texts allowed per minute, 0 for any number.
            buckets: What each client has left of them.
            clock: In seconds, the same for all who share the buckets.
        """
        self._keys = keys
        self.a_minute = a_minute
        self._buckets = buckets
        self._clock = clock

    @property
    def keys(self) -> frozenset[bytes]:
        """Digests of those that are valid; none where requests need none."""
        return self._keys()

    def check(self, address: str, key: object, cost: float) -> None:
        """Raises `Refused` unless the client may make a request of this cost (`cost_of`) now."""
        if not isinstance(key, str | None):
            raise Refused(400, "Invalid request: api_key parameter is not a string")
        if self.keys:
            if not key:
                raise Refused(400, "Please contact the server operator to get an API key", "no_key")
            if _digest(key) not in self.keys:
                raise Refused(403, "Invalid API key", "wrong_key")
        if self.a_minute:
            self._take(f"key {key}" if self.keys else client_of(address), cost)

    def _take(self, client: str, cost: float) -> None:
        missing = self._buckets.take(client, cost, self.a_minute, self._clock())
        if missing:
            wait = max(1, math.ceil(round(missing * 60 / self.a_minute, 3)))
            raise Refused(429, f"Slowdown: {self.a_minute} per 1 minute", "rate", wait)


def cost_of(texts: Sequence[str], beam_size: int) -> float:
    """What a request costs, in texts: work grows with characters and beam, and no text is free.

    Args:
        texts: Of the request.
        beam_size: That each is searched with.
    """
    return sum(max(1.0, len(text) * beam_size / TEXT_WORK) for text in texts)


def client_of(address: str) -> str:
    """Whose address it is: of IPv6 the network that a client has whole."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if ip.version == 4:
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((ip, _NETWORK), strict=False))


def keys_of(path: Path | None) -> frozenset[bytes]:
    """Digests of the keys in a file; none without a file."""
    return read_keys(path) if path else frozenset()


def read_keys(path: Path) -> frozenset[bytes]:
    """Digests of the keys in a file, one per line; `#` begins a comment."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise InputError(f"{path}: the API keys cannot be read: {why}") from None
    keys = [line.partition("#")[0].strip() for line in lines]
    digests = frozenset(_digest(key) for key in keys if key)
    if not digests:
        raise InputError(f"{path}: no API key in it, expected one per line")
    return digests


def _digest(key: str) -> bytes:
    """Keys are looked up by digest, so that timing reveals nothing about them."""
    return hashlib.sha256(key.encode("utf-8", errors="surrogatepass")).digest()
