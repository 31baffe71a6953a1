"""Connections: how many an address may have, whose word is believed, and half-closed ones."""

import json
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import pytest
from serving import PATIENCE, Site, gated, running, until

from sieve.errors import ConfigError
from sieve.serve.models import Models
from sieve.serve.settings import Limits, Settings
from sieve.serve.shared import board

GOOD = {"q": "bda", "source": "en", "target": "de"}


@contextmanager
def connected(site: Site, address: str = "127.0.0.1") -> Iterator[socket.socket]:
    place = ("127.0.0.1", site.port)
    with socket.create_connection(place, PATIENCE, source_address=(address, 0)) as sock:
        yield sock


def sent(version: str, value: object = GOOD) -> bytes:
    body = json.dumps(value).encode()
    head = f"POST /translate HTTP/{version}\r\nHost: x\r\nContent-Type: application/json\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body


def received(sock: socket.socket) -> bytes:
    with sock.makefile("rb") as file:
        return file.read()


def closed(sock: socket.socket) -> bool:
    """Whether the server has ended the connection; it says nothing first on one that it keeps."""
    sock.settimeout(0.3)
    try:
        return sock.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_client_that_has_ended_its_side_gets_its_answer(models: Models, version: str) -> None:
    few, translator = gated(models)
    with running(few, Settings(port=0, threads=1)) as site, connected(site) as sock:
        sock.sendall(sent(version))
        sock.shutdown(socket.SHUT_WR)
        until(lambda: translator.begun)
        time.sleep(0.3)  # the server looks several times whether anybody is there
        translator.gate.set()
        answer = received(sock)  # and the connection ends
    probes, answer = answer.split(b"HTTP/1.1 200", 1)
    assert probes == (b"HTTP/1.1 100 Continue\r\n\r\n" if version == "1.1" else b"")
    assert b'"translatedText"' in answer


def test_who_ends_its_side_amid_a_body_is_gone(models: Models) -> None:
    with running(models) as site, connected(site) as sock:
        sock.sendall(sent("1.1")[:-5])
        sock.shutdown(socket.SHUT_WR)
        assert received(sock) == b""


def test_an_address_has_so_many_connections(models: Models) -> None:
    settings = Settings(port=0, threads=1, limits=Limits(connections=5))
    with running(models, settings) as site, ExitStack() as stack:
        socks = [stack.enter_context(connected(site)) for _ in range(9)]
        assert [closed(sock) for sock in socks] == [False] * 5 + [True] * 4
        with connected(site, "127.0.0.2") as other:
            other.sendall(sent("1.0"))
            assert b" 200 OK" in received(other)
        socks[0].sendall(sent("1.0"))
        assert b" 200 OK" in received(socks[0])
        with connected(site) as free:
            assert not closed(free)


def test_so_many_connections_there_are_in_all(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board, "MOST_CONNECTIONS", 3)
    with running(models, Settings(port=0, threads=1)) as site, ExitStack() as stack:
        socks = [stack.enter_context(connected(site, f"127.0.0.{n}")) for n in range(2, 7)]
        assert [closed(sock) for sock in socks] == [False] * 3 + [True] * 2


def test_a_proxy_may_have_more(models: Models) -> None:
    limits = Limits(connections=2)
    settings = Settings(port=0, threads=1, limits=limits, proxies=("127.0.0.0/8",))
    with running(models, settings) as site, ExitStack() as stack:
        socks = [stack.enter_context(connected(site)) for _ in range(5)]
        assert not any(map(closed, socks))


@pytest.mark.parametrize(
    ("proxies", "statuses"), [((), [200, 429, 429]), (("127.0.0.1",), [200, 200, 429])]
)
def test_whose_word_on_addresses_is_believed(
    models: Models, proxies: tuple[str, ...], statuses: Sequence[int]
) -> None:
    settings = Settings(port=0, threads=1, limits=Limits(a_minute=1), proxies=proxies)
    with running(models, settings) as site:
        body = json.dumps(GOOD).encode()
        asked = [
            site.ask("POST", "/translate", body, "application/json", x_forwarded_for=address)
            for address in ("10.0.0.1", "10.0.0.2", "10.0.0.2")
        ]
    assert [answer.status for answer in asked] == statuses


def test_what_is_no_address_of_a_proxy() -> None:
    with pytest.raises(ConfigError, match="proxy: got 'nginx', expected an address or a network"):
        Settings(proxies=("nginx",))


def test_long_texts_and_lists_cost_what_they_are(models: Models) -> None:
    settings = Settings(port=0, threads=2, limits=Limits(a_minute=40, seconds=50))
    with running(models, settings) as site:
        long = {**GOOD, "q": "bda " * 4750}  # 19,000 characters: 38 texts
        same = {"source": "en", "target": "en"}
        assert site.post("/translate", {**long, **same}).status == 200
        answer = site.post("/translate", {**long, **same})
        assert answer.status == 429
        assert 36 / 40 * 60 - 2 < int(answer.headers["retry-after"]) <= 36 / 40 * 60
    with running(models, Settings(port=0, threads=2, limits=Limits(a_minute=300))) as site:
        statuses = [site.post("/detect", {"q": ["bda"] * 200}).status for _ in range(2)]
        assert statuses == [200, 429]
