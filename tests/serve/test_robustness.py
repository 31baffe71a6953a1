"""Clients that do everything wrong: they get a 4xx or nothing, and others notice nothing."""

import json
import random
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from serving import PATIENCE, Site, gated, model_of, running, until

from sieve.serve.models import Model, Models
from sieve.serve.settings import Limits, Settings
from sieve.serve.web import connection
from sieve.translate.translation import Request, Translation

GOOD = {"q": "bda", "source": "en", "target": "de"}
HEAD = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@contextmanager
def connected(site: Site) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE) as sock:
        yield sock


def status(sock: socket.socket) -> int:
    """Of one whole answer, 0 where the connection ended without one."""
    try:
        with sock.makefile("rb", buffering=0) as file:
            line, length = file.readline(), 0
            while (header := file.readline()) not in (b"\r\n", b""):
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            while length > 0 and (part := file.read(length)):
                length -= len(part)
    except ConnectionError:
        return 0
    return int(line.split(b" ", 2)[1]) if line else 0


def body_of(value: object) -> bytes:
    body = json.dumps(value).encode()
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body


def alive(site: Site) -> bool:
    return site.post("/translate", GOOD).status == 200


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"POST /translate HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 400),
        (b"POST /translate HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
        (HEAD + b"Content-Length: 99999999999\r\n\r\n", 413),
        (HEAD + b"Content-Length: 5\r\n\r\n{\xff\xfe\xfd}", 400),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", 200),
        (b"GET /%ff%fe HTTP/1.1\r\n\r\n", 404),
        (b"BREW / HTTP/1.1\r\n\r\n", 400),
    ],
)
def test_malformed_requests(site: Site, sent: bytes, expected: int) -> None:
    with connected(site) as sock:
        sock.sendall(sent)
        assert status(sock) == expected
    assert alive(site)


def test_a_body_without_end_is_cut(site: Site) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with connected(site) as sock:
        sock.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 8)
        assert status(sock) == 413
        with pytest.raises(OSError):
            for _ in range(10 * connection.REFUSED_BYTES // len(chunk)):
                sock.sendall(chunk)
    assert alive(site)


def test_a_head_without_end_is_cut(site: Site) -> None:
    with connected(site) as sock, pytest.raises(OSError):
        sock.sendall(b"GET /health HTTP/1.1\r\n")
        for number in range(10 * connection.HEAD_BYTES // 1000):
            sock.sendall(b"x-%d: " % number + b"y" * 1000 + b"\r\n")
            time.sleep(0.0005)
    assert alive(site)


def test_slow_heads_and_bodies(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.3)
    settings = Settings(port=0, threads=1, limits=Limits(sending_seconds=0.3))
    with running(models, settings) as site:
        with connected(site) as sock:
            assert status(sock) == 0  # says nothing
        with connected(site) as sock:
            sock.sendall(HEAD)
            assert status(sock) == 0
        with connected(site) as sock:
            sock.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
            assert status(sock) == 408
            assert status(sock) == 0  # and the rest does not come either
        with connected(site) as sock:  # after a good request
            sock.sendall(body_of(GOOD))
            assert status(sock) == 200
            sock.sendall(b"POST /tra")
            assert status(sock) == 0
        assert alive(site)
        assert site.metric('sieve_refused_requests_total{reason="slow"}') == 1.0


def test_a_full_queue_says_come_again(models: Models) -> None:
    few, translator = gated(models)
    settings = Settings(port=0, threads=1, limits=Limits(requests=2))
    with running(few, settings) as site, connected(site) as a, connected(site) as b:
        a.sendall(body_of(GOOD))
        until(lambda: translator.begun)
        b.sendall(body_of(GOOD))
        until(lambda: site.metric("sieve_accepted_requests") == 2)
        answer = site.post("/translate", GOOD)
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert answer.json == {"error": "the server is busy, try again"}
        assert site.metric('sieve_refused_requests_total{reason="busy"}') == 1.0
        assert site.metric("sieve_queue_length") == 1
        translator.gate.set()
        assert status(a) == status(b) == 200
        assert alive(site)


def test_an_abandoned_request_costs_no_more(models: Models) -> None:
    few, translator = gated(models)
    with running(few, Settings(port=0, threads=1)) as site:
        lines = "\n".join(f"b{letter}a" for letter in "abcdefgh")
        with connected(site) as sock:
            sock.sendall(body_of({**GOOD, "q": lines}))
            until(lambda: translator.begun)
        until(lambda: site.metric('sieve_refused_requests_total{reason="abandoned"}') == 1)
        begun = len(translator.begun)
        translator.gate.set()
        assert alive(site)
        assert translator.begun[begun:] == ["bda"]  # nothing but the next request
        assert site.metric("sieve_accepted_requests") == 0


def test_an_abandoned_document_costs_no_more(models: Models) -> None:
    few, translator = gated(models)
    with running(few, Settings(port=0, threads=1)) as site:
        html = "".join(f"<p>b{letter}a</p>" for letter in "abcdefgh")
        with connected(site) as sock:
            sock.sendall(body_of({**GOOD, "q": html, "format": "html"}))
            until(lambda: translator.begun)
        until(lambda: site.metric('sieve_refused_requests_total{reason="abandoned"}') == 1)
        begun = len(translator.begun)
        translator.gate.set()
        assert alive(site)
        assert translator.begun[begun:] == ["bda"]


def test_a_request_that_takes_too_long(models: Models) -> None:
    few, translator = gated(models)
    settings = Settings(port=0, threads=1, limits=Limits(seconds=0.2))
    with running(few, settings) as site:
        answer = site.post("/translate", {**GOOD, "q": "bda\nfga"})
        assert answer.status == 503
        assert answer.json["error"].startswith("not done within 0.2 seconds")
        translator.gate.set()
        until(lambda: alive(site))


def test_an_error_of_ours_is_a_500_and_no_more(models: Models) -> None:
    class Broken:
        def run(self, lines: Sequence[str], request: Request) -> list[Translation]:
            raise ZeroDivisionError

    model = model_of(models, "en", "de")
    few = Models.of([Model("broken", model.translator, Broken())])
    with running(few, Settings(port=0, threads=1)) as site:
        answer = site.post("/translate", GOOD)
        assert answer.status == 500
        assert answer.json == {"error": "internal error: see the log of the server"}
        assert site.ask("GET", "/health").status == 200


def test_ready_is_who_would_take_a_request(models: Models) -> None:
    few, translator = gated(models)
    settings = Settings(port=0, threads=1, limits=Limits(requests=1))
    with running(few, settings) as site:
        answer = site.ask("GET", "/ready")
        assert (answer.status, answer.json) == (200, {"status": "ready", "models": ["gated"]})
        client = threading.Thread(target=lambda: site.post("/translate", GOOD))
        client.start()
        until(lambda: translator.begun)
        answer = site.ask("GET", "/ready")
        assert (answer.status, answer.json) == (503, {"error": "not ready: the queue is full"})
        assert site.ask("GET", "/health").status == 200  # alive all the same
        translator.gate.set()
        client.join(PATIENCE)
        until(lambda: site.ask("GET", "/ready").status == 200)


def test_the_last_answers_are_given(models: Models) -> None:
    few, translator = gated(models)
    statuses = []
    with running(few, Settings(port=0, threads=1)) as site:
        ask = threading.Thread(
            target=lambda: statuses.append(
                site.post("/translate", {**GOOD, "q": "bda\nfga"}).status
            )
        )
        ask.start()
        until(lambda: translator.begun)
        opener = threading.Timer(0.2, translator.gate.set)
        opener.start()  # after the server was told to end
    ask.join(PATIENCE)
    opener.join()
    assert statuses == [200]


def test_noise_in_between(site: Site) -> None:
    """Random damage to good requests, beside clients that do everything right."""
    rng = random.Random(3)
    done: list[int] = []

    def good() -> None:
        for _ in range(20):
            done.append(site.post("/translate", GOOD).status)

    helpers = [threading.Thread(target=good) for _ in range(2)]
    for helper in helpers:
        helper.start()
    for _ in range(150):
        raw = bytearray(body_of({**GOOD, "alternatives": 1}))
        for _ in range(rng.choice([1, 3, 20])):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        with connected(site) as sock:
            sock.sendall(raw[: rng.randrange(1, len(raw) + 1)])
            if rng.random() < 0.5:
                continue  # gone without waiting
            sock.shutdown(socket.SHUT_WR)
            assert status(sock) in (0, 200, 400, 404, 405, 413, 415)
    for helper in helpers:
        helper.join()
    assert done == [200] * 40
