"""The queue and its threads, with work that tests can hold up."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError

import pytest
from serving import PATIENCE, until

from sieve.serve.dispatcher import Dispatcher


class Work:
    """Gives items back in capitals; remembers batches; begins when it may."""

    def __init__(self, open_: bool = True) -> None:
        self.batches: list[list[str]] = []
        self.gate = threading.Event()
        if open_:
            self.gate.set()

    def __call__(self, items: list[str]) -> Sequence[str]:
        self.batches.append(items)
        assert self.gate.wait(PATIENCE)
        if "bad" in items:
            raise ValueError("bad")
        return [item.upper() for item in items]


def values(dispatcher: Dispatcher, work: Callable[[list[str]], Sequence[str]], *items: str) -> str:
    found = dispatcher.submit("kind", work, items).result(PATIENCE)
    return " ".join(outcome.value for outcome in found)


def test_answers_come_in_the_order_of_the_items() -> None:
    dispatcher = Dispatcher(threads=3, batch_characters=4)
    items = [f"i{number}" for number in range(200)]
    assert values(dispatcher, Work(), *items) == " ".join(items).upper()
    assert dispatcher.submit("kind", Work(), []).result() == []
    dispatcher.close()


def test_what_waits_is_taken_together_up_to_a_limit() -> None:
    dispatcher = Dispatcher(threads=1, batch_characters=10)
    work, other = Work(open_=False), Work()
    first = dispatcher.submit("a", work, ["first"])
    until(lambda: work.batches)
    orders = [dispatcher.submit("a", work, [item]) for item in ("four", "4444", "cc", "d")]
    orders.append(dispatcher.submit("b", other, ["of another kind"]))
    long = dispatcher.submit("a", work, ["longer than the limit"])
    assert dispatcher.waiting == 6
    work.gate.set()
    for order in (first, *orders, long):
        order.result(PATIENCE)
    # ten characters, then the rest that fits; the other kind when it is the oldest
    assert work.batches == [["first"], ["four", "4444", "cc"], ["d"], ["longer than the limit"]]
    assert other.batches == [["of another kind"]]
    assert dispatcher.waiting == 0
    dispatcher.close()


def test_a_thread_leaves_the_others_their_share() -> None:
    dispatcher = Dispatcher(threads=2, batch_characters=1000)
    work = Work(open_=False)
    blocks = [dispatcher.submit(name, work, [name]) for name in ("x", "y")]
    until(lambda: len(work.batches) == 2)
    order = dispatcher.submit("kind", work, list("abcdef"))
    work.gate.set()
    for one in (*blocks, order):
        one.result(PATIENCE)
    assert max(map(len, work.batches)) == 3
    dispatcher.close()


def test_a_cancelled_order_is_not_begun() -> None:
    dispatcher = Dispatcher(threads=1, batch_characters=1)
    work = Work(open_=False)
    running = dispatcher.submit("kind", work, ["running", "also dropped"])
    until(lambda: work.batches)
    dropped = dispatcher.submit("kind", work, ["dropped"] * 5)
    kept = dispatcher.submit("kind", work, ["kept"])
    assert dropped.cancel() and running.cancel()
    work.gate.set()
    assert kept.result(PATIENCE)[0].value == "KEPT"
    with pytest.raises(CancelledError):
        dropped.result()
    assert work.batches == [["running"], ["kept"]]
    dispatcher.close()


def test_an_item_that_fails_fails_alone() -> None:
    dispatcher = Dispatcher(threads=1, batch_characters=100)
    work = Work(open_=False)
    first = dispatcher.submit("kind", work, ["first"])
    until(lambda: work.batches)
    orders = [dispatcher.submit("kind", work, [item]) for item in ("good", "bad", "fine")]
    work.gate.set()
    first.result(PATIENCE)
    assert orders[0].result(PATIENCE)[0].value == "GOOD"
    assert orders[2].result(PATIENCE)[0].value == "FINE"
    with pytest.raises(ValueError, match="bad"):
        orders[1].result(PATIENCE)
    assert values(dispatcher, Work(), "alive") == "ALIVE"
    dispatcher.close()


def test_closing_finishes_what_was_accepted() -> None:
    dispatcher = Dispatcher(threads=2, batch_characters=1)
    work = Work(open_=False)
    order = dispatcher.submit("kind", work, list("abcdef"))
    closing = threading.Thread(target=dispatcher.close)
    closing.start()
    assert not order.done()
    work.gate.set()
    closing.join(PATIENCE)
    assert [outcome.value for outcome in order.result(0)] == list("ABCDEF")
    with pytest.raises(RuntimeError, match="closed"):
        dispatcher.submit("kind", work, ["late"])


def test_times_are_those_of_waiting_and_working() -> None:
    dispatcher = Dispatcher(threads=1, batch_characters=1)
    work = Work(open_=False)
    order = dispatcher.submit("kind", work, ["first", "second"])
    until(lambda: work.batches)
    time.sleep(0.02)
    work.gate.set()
    first, second = order.result(PATIENCE)
    assert first.seconds >= 0.02
    assert second.waited >= first.seconds
    dispatcher.close()
