"""The settings of a server: where it listens, and how much a client may ask of it."""

import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sieve.errors import ConfigError

MAX_BEAM = 16
"""Widest beam that a request may ask for: cost grows with it."""
MAX_ALTERNATIVES = 9
"""Most alternative translations of a text."""
MAX_WORDS = 64
"""Most words to include, and to exclude, in a request."""
MAX_WORD = 100
"""Characters of such a word."""
MAX_WORKERS = 128
BYTES_A_CHARACTER = 12
"""Most bytes that a character takes in a body: four of UTF-8, each as %XX."""
BODY_FRAME = 2**16
"""Bytes of a body besides its texts."""


@dataclass(frozen=True)
class Limits:
    """What a request may cost."""

    characters: int = 20_000
    """Of all texts of a request."""
    texts: int = 200
    """Of a request."""
    seconds: float = 30.0
    """Seconds from the last byte of a request to its answer."""
    sending_seconds: float = 10.0
    """Seconds within which a client must have sent its request."""
    requests: int = 128
    """Accepted at a time; further ones are told to try again."""
    a_minute: int = 0
    """Texts of a client per minute, long ones and wide beams counted several times; 0 for any
    number."""
    file_bytes: int = 10 << 20
    """Of a document; 0 for no documents."""
    file_seconds: float = 300.0
    """Seconds from the last byte of a document to its translation."""
    connections: int = 200
    """Open at a time from one address."""

    def __post_init__(self) -> None:
        for name in ("characters", "texts", "requests", "connections"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}: got {getattr(self, name)}, expected 1 or more")
        for name in ("seconds", "sending_seconds", "file_seconds"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ConfigError(f"{name}: got {getattr(self, name)}, expected a number above 0")
        if self.a_minute < 0:
            raise ConfigError(f"a_minute: got {self.a_minute}, expected 0 (any number) or more")
        if self.file_bytes < 0:
            raise ConfigError(f"file_bytes: got {self.file_bytes}, expected 0 (no files) or more")

    @property
    def body_bytes(self) -> int:
        """Most bytes of a body."""
        return self.characters * BYTES_A_CHARACTER + BODY_FRAME


@dataclass(frozen=True)
class Settings:
    """Everything about a server but its models."""

    host: str = "127.0.0.1"
    port: int = 5000
    """0 for any that is free."""
    threads: int | None = None
    """Sentences translated in parallel; by default one per usable core."""
    api_keys: Path | None = None
    """A file with a key per line; requests must give one of them."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies, whose X-Forwarded-For is believed; of nobody else."""
    cors: str = ""
    """The origin whose pages may use the server from a browser, `*` for any; none by default."""
    workers: int = 1
    """Processes that share the port; each has its own threads."""
    idle_minutes: float = 0.0
    """After which a model that nobody asks for is closed, to be opened when somebody does; with 0
    all models are opened at once and stay open."""
    access_log: Literal["", "line", "json"] = ""
    """The form of the lines about requests on stdout; none by default."""
    log_texts: bool = False
    """Whether they have the texts of users."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 1 <= self.workers <= MAX_WORKERS:
            raise ConfigError(f"workers: got {self.workers}, expected 1 to {MAX_WORKERS}")
        if self.workers > 1 and not hasattr(os, "memfd_create"):
            raise ConfigError(
                f"workers: got {self.workers}, several need Linux; leave out --workers"
            )
        if not 0 <= self.idle_minutes < float("inf"):
            raise ConfigError(f"idle_minutes: got {self.idle_minutes}, expected 0 (never) or more")
        if self.log_texts and not self.access_log:
            raise ConfigError("log_texts requires access_log line or json")
        if not 0 <= self.port < 65536:
            raise ConfigError(f"port: got {self.port}, expected 0 to 65535")
        if self.threads is not None and self.threads < 1:
            raise ConfigError(f"threads: got {self.threads}, expected 1 or more")
        for proxy in self.proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError:
                raise ConfigError(
                    f"proxy: got '{proxy[:60]}', expected an address or a network (10.0.0.0/8)"
                ) from None
