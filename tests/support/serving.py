"""Servers for tests: in a thread, on a free port, with models of random weights."""

import http.client
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sieve.serve.models import Model, Models
from sieve.serve.run import listen, make_server
from sieve.serve.settings import Settings
from sieve.translate.translation import Request, Runner, Translation

PATIENCE = 60.0
"""Seconds after which something hangs, on however busy a machine."""


@dataclass(frozen=True)
class Answered:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Site:
    """A server that runs."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, body: bytes | None = None, kind: str = "", **headers: str
    ) -> Answered:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            if kind:
                given["content-type"] = kind
            connection.request(method, path, body, given)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answered(response.status, names, response.read())
        finally:
            connection.close()

    def post(self, path: str, value: Any) -> Answered:
        return self.ask("POST", path, json.dumps(value).encode(), "application/json")

    def metric(self, line: str) -> float:
        """The value of a line of /metrics, 0 where there is none."""
        for one in self.ask("GET", "/metrics").body.decode().splitlines():
            name, _, value = one.rpartition(" ")
            if name == line:
                return float(value)
        return 0.0


@contextmanager
def running(models: Models, settings: Settings | None = None) -> Iterator[Site]:
    """A server, ended in the end."""
    settings = settings or Settings(port=0, threads=2)
    with listen(settings) as sock:
        started = threading.Event()
        server = make_server(models, settings, started.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        assert started.wait(PATIENCE)
        try:
            yield Site(sock.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


class Gated:
    """A runner that begins only when it may, and remembers what it was asked for."""

    def __init__(self, inner: Runner) -> None:
        self.inner = inner
        self.gate = threading.Event()
        self.begun: list[str] = []

    def run(self, lines: Sequence[str], request: Request) -> list[Translation]:
        self.begun += lines
        assert self.gate.wait(PATIENCE)
        return self.inner.run(lines, request)


def gated(models: Models) -> tuple[Models, Gated]:
    """The first model of several, behind a gate."""
    first = models.find(*models.pairs[0])
    assert first is not None
    runner = Gated(first.translator)
    return Models([Model("gated", first.translator, runner)]), runner


def until(true: Any) -> None:
    """Waits for something that must become true."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)
