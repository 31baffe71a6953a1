"""API keys and rates, with a clock that tests turn."""

from pathlib import Path

import pytest

from sieve.errors import InputError
from sieve.serve.access import Access, client_of, cost_of, read_keys
from sieve.serve.refusal import Refused
from sieve.serve.shared import buckets
from sieve.serve.shared.board import Board


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def guarded(a_minute: int, clock: Clock, keys: frozenset[bytes] = frozenset()) -> Access:
    return Access(lambda: keys, a_minute, Board.alone().buckets, clock)


def refusal(guard: Access, address: str, key: object = None, cost: int = 1) -> tuple[int, int]:
    try:
        guard.check(address, key, cost)
    except Refused as refused:
        return refused.status, refused.retry_after
    return 200, 0


def test_a_minute_has_so_many_requests() -> None:
    clock = Clock()
    guard = guarded(6, clock)
    assert [refusal(guard, "a")[0] for _ in range(7)] == [200] * 6 + [429]
    assert refusal(guard, "b") == (200, 0)
    clock.now = 9.0
    assert refusal(guard, "a") == (429, 1)  # the next one is due after ten seconds
    clock.now = 10.0
    assert refusal(guard, "a") == (200, 0)
    assert refusal(guard, "a")[0] == 429
    clock.now = 1000.0
    assert refusal(guard, "a", cost=100) == (200, 0)  # more than a minute's, from a full bucket
    assert refusal(guard, "a")[0] == 429
    clock.now = 1060.0
    assert refusal(guard, "a")[0] == 429  # and paid back
    with pytest.raises(Refused, match=r"^Slowdown: 6 per 1 minute$"):
        guard.check("a", None, 1)


@pytest.mark.parametrize(
    ("texts", "beam_size", "cost"),
    [
        (["a"] * 200, 1, 200.0),  # no text is free
        (["", "a" * 500], 5, 2.0),
        (["a" * 19_000], 5, 38.0),
        (["a" * 19_000], 1, 7.6),
        (["a" * 500], 16, 3.2),
        ([], 5, 0.0),
    ],
)
def test_work_is_characters_times_beam(texts: list[str], beam_size: int, cost: float) -> None:
    assert cost_of(texts, beam_size) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unix", "unix"),
    ],
)
def test_whose_address_it_is(address: str, client: str) -> None:
    assert client_of(address) == client


def test_an_address_of_the_same_network_is_the_same_client() -> None:
    guard = guarded(1, Clock())
    assert refusal(guard, "2001:db8::1")[0] == 200
    assert refusal(guard, "2001:db8::2")[0] == 429
    assert refusal(guard, "2001:db8:0:1::1")[0] == 200


def test_old_clients_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "SETS", 1)
    monkeypatch.setattr(buckets, "WAYS", 2)
    monkeypatch.setattr(buckets.Buckets, "BYTES", 2 * buckets.Buckets.BYTES // (8 * 2048))
    guard = guarded(1, Clock())
    assert [refusal(guard, client)[0] for client in "aabcca"] == [200, 429, 200, 200, 429, 200]


def test_keys(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("# ours\nsecret  # Ada's\n\nother\n")
    guard = guarded(1, Clock(), read_keys(path))
    assert refusal(guard, "a", "secret") == (200, 0)
    assert refusal(guard, "a", "other") == (200, 0)  # a rate for each key
    assert refusal(guard, "b", "other")[0] == 429
    for key in ("", None, 7, ["secret"]):
        assert refusal(guard, "a", key) == (400, 0)
    for key in ("Secret", "# ours", "\ud800"):
        assert refusal(guard, "a", key) == (403, 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "the API keys cannot be read: No such file or directory"),
        (b"\xff\xfe", "the API keys cannot be read: not UTF-8"),
        (b"\n# nothing\n", "no API key in it, expected one per line"),
    ],
)
def test_a_file_without_keys_is_an_error(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "keys"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_keys(path)
