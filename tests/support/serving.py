"""Servers for tests: in a thread, on a free port, with models of random weights."""

import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sieve.serve.access import keys_of
from sieve.serve.access_log import AccessLog
from sieve.serve.common import Common
from sieve.serve.models import Model, Models
from sieve.serve.run import listen, make_server
from sieve.serve.service import Service
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
def running(
    models: Models, settings: Settings | None = None, log: AccessLog | None = None
) -> Iterator[Site]:
    """A server, ended in the end."""
    settings = settings or Settings(port=0, threads=2)
    with listen(settings) as sock:
        started = threading.Event()
        keys = keys_of(settings.api_keys)
        service = Service(models, settings, Common(keys=lambda: keys, log=log))
        server = make_server(service, settings, started.set)
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
    first = next(iter(models.open.values()))
    runner = Gated(first.translator)
    return Models.of([Model("gated", first.translator, runner)]), runner


def model_of(models: Models, source: str, target: str) -> Model:
    """The open model of a pair."""
    return next(m for m in models.open.values() if m.translator.languages == (source, target))


def until(true: Any) -> None:
    """Waits for something that must become true."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)


@dataclass(frozen=True)
class ServerProcess:
    """`sieve serve` in a process of its own."""

    site: Site
    process: "subprocess.Popen[str]"
    errors: list[str]
    """Lines that it has written to stderr, as they come."""
    output: list[str]
    """Likewise to stdout."""

    @property
    def workers(self) -> list[int]:
        """Process ids of its children."""
        path = f"/proc/{self.process.pid}/task"
        lines = [Path(f"{path}/{task}/children").read_text() for task in os.listdir(path)]
        return sorted(int(pid) for line in lines for pid in line.split())

    def said(self, text: str) -> bool:
        """Whether a line of stderr has a text."""
        return any(text in line for line in self.errors)


@contextmanager
def served(*arguments: str, **variables: str) -> Iterator[ServerProcess]:
    """`sieve serve` with these arguments on a free port; ended in the end."""
    command = [sys.executable, "-W", "error", "-m", "sieve.cli", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **variables},
    )  # fmt: skip
    errors, output = list[str](), list[str]()
    readers = [
        threading.Thread(target=lines.extend, args=(stream,), daemon=True)
        for lines, stream in ((errors, process.stderr), (output, process.stdout))
    ]
    for reader in readers:
        reader.start()

    def port() -> int:
        ports = [re.search(r" at http://127\.0\.0\.1:(\d+)", line) for line in errors]
        return next((int(match[1]) for match in ports if match), 0)

    try:
        until(lambda: port() or process.poll() is not None)
        assert port(), "".join(errors)
        yield ServerProcess(Site(port()), process, errors, output)
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            for reader in readers:
                reader.join(PATIENCE)
            for stream in (process.stderr, process.stdout):
                assert stream is not None
                stream.close()
