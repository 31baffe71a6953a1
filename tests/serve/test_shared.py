"""What workers share: counts, places and rates that hold for all of them together."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from sieve.files import CAN_SEAL
from sieve.serve.shared import board
from sieve.serve.shared.board import Board, shared_board, shared_memory
from sieve.serve.shared.buckets import Buckets
from sieve.serve.shared.counts import Counts
from sieve.serve.telemetry import Telemetry

linux = pytest.mark.skipif(not CAN_SEAL, reason="shared memory needs Linux")


def boards(workers: int) -> list[Board]:
    descriptor = shared_memory(workers)
    return [shared_board(descriptor, workers, number) for number in range(workers)]


@linux
def test_places_are_those_of_all_together() -> None:
    first, second = boards(2)
    with first.place("accepted", 2) as a, second.place("accepted", 2) as b:
        assert (a, b, first.total("accepted")) == (True, True, 2)
        with second.place("accepted", 2) as c:
            assert not c
        assert first.total("accepted") == 2
    assert second.total("accepted") == 0


@linux
def test_connections_are_those_of_all_together() -> None:
    first, second = boards(2)
    place = first.connect("a", 2)
    assert place is not None
    assert second.connect("a", 2) is not None
    assert first.connect("a", 2) is None
    assert second.connect("b", 2) is not None
    assert [second.connect("", 1) is None for _ in range(3)] == [False] * 3
    first.disconnect(place)
    assert first.connect("a", 2) is not None


@linux
def test_connections_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "MOST_CONNECTIONS", 3)
    first, second = boards(2)
    found = [(first, second)[n % 2].connect(str(n), 9) for n in range(5)]
    assert [place is None for place in found] == [False] * 3 + [True] * 2


@linux
def test_what_a_dead_worker_held_is_free_and_what_it_counted_stays() -> None:
    first, second = boards(2)
    first.counts[0].add("row", 2, {1: 3.0})
    second.beat()
    first.beat(waiting=7)
    with first.place("accepted", 9):
        first.connect("a", 1)
        assert second.total("accepted") == 1
        assert set(second.pids) == {0, 1}
        second.clear(0)
        assert second.total("accepted") == second.total("waiting") == 0
        assert set(second.pids) == {1}
        assert second.connect("a", 1) is not None
    assert [(name, values.tolist()) for name, values in second.counts[0].rows()] == [
        ("row", [0.0, 3.0])
    ]


@linux
def test_a_worker_that_dies_with_the_lock_holds_nobody_up() -> None:
    descriptor = shared_memory(2)
    mine = shared_board(descriptor, 2, 0)
    code = (
        "import sys, time\n"
        "from sieve.serve.shared.board import shared_board\n"
        "b = shared_board(int(sys.argv[1]), 2, 1)\n"
        "with b._lock:\n"
        "    print('held', flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(descriptor)],
        pass_fds=[descriptor], stdout=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        os.kill(child.pid, signal.SIGKILL)
        with mine.place("accepted", 1) as free:
            assert free


@linux
def test_a_client_has_one_rate_whoever_serves_it() -> None:
    first, second = boards(2)
    taken = [each.buckets.take("c", 1, 3, 0.0) for each in (first, second) * 2]
    assert taken == [0, 0, 0, 1]
    assert second.buckets.take("other", 1, 3, 0.0) == 0


def test_who_is_busier() -> None:
    assert not Board.alone().busier(0)


@linux
def test_only_workers_that_live_are_compared_with(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = boards(2)
    for each in (first, second):
        each.beat()
    places = [first.connect("a", 9) for _ in range(3)]
    second.connect("a", 9)
    assert [first.busier(by) for by in (1, 2, 3)] == [True, True, False]
    assert not second.busier(1)
    assert places[0] is not None
    first.disconnect(places[0])
    assert not first.busier(2)
    second.clear(1)
    assert not first.busier(1)  # nobody else is there


def test_counts_without_room_stay_as_they_are() -> None:
    counts = Counts(np.zeros(80, np.uint8))  # ten words: one for the end, two a head, name, values
    for _ in range(2):
        counts.add("a", 2, {0: 1.0})
        counts.add("b", 1, {0: 1.0})
        counts.add("c", 1, {0: 1.0})
    assert [(name, values.tolist()) for name, values in counts.rows()] == [
        ("a", [2.0, 0.0]), ("b", [2.0]),
    ]  # fmt: skip


def test_a_sheet_is_taken_over() -> None:
    memory = np.zeros(800, np.uint8)
    Counts(memory).add("ä" * 9, 2, {1: 1.0})
    heir = Counts(memory)
    heir.add("new", 1, {0: 5.0})
    heir.add("ä" * 9, 2, {1: 1.0})
    assert {name: values.tolist() for name, values in heir.rows()} == {
        "ä" * 9: [0.0, 2.0], "new": [5.0],
    }  # fmt: skip


def test_buckets_have_the_size_that_they_say() -> None:
    assert Buckets.BYTES == 2048 * 8 * 32


@linux
def test_metrics_are_sums_over_workers() -> None:
    first, second = map(Telemetry, boards(2))
    first.answered("/a", 200, 0.001)  # on the bound of a bucket: belongs to it
    second.answered("/a", 200, 0.5)
    second.refused("busy")
    second.took('m"x', 40.0)
    lines = first.text().decode().splitlines()
    for line in (
        'sieve_request_seconds_bucket{le="0.001",route="/a",status="200"} 1.0',
        'sieve_request_seconds_bucket{le="0.2",route="/a",status="200"} 1.0',
        'sieve_request_seconds_bucket{le="0.5",route="/a",status="200"} 2.0',
        'sieve_request_seconds_bucket{le="+Inf",route="/a",status="200"} 2.0',
        'sieve_request_seconds_sum{route="/a",status="200"} 0.501',
        'sieve_request_seconds_count{route="/a",status="200"} 2.0',
        'sieve_refused_requests_total{reason="busy"} 1.0',
        'sieve_model_seconds_bucket{le="30.0",model="m\\"x"} 0.0',
        'sieve_model_seconds_count{model="m\\"x"} 1.0',
    ):
        assert line in lines
