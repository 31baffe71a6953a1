"""What a run says of itself where there is no terminal."""

import logging

import pytest

from sieve.log import SILENCE
from sieve.train.metrics import ProgressBar


def test_a_line_now_and_then_without_a_terminal(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    bar = ProgressBar(500, "update", True, lambda: now[0])
    with caplog.at_level(logging.INFO, "sieve"):
        bar.wait(1, 1000)
        now[0] = SILENCE
        bar.wait(7, 1234.5)
        bar.show(8, 900, 3.25)
        now[0] = 2 * SILENCE
        bar.show(20, 900, 3.25)
    assert caplog.messages == [
        "update 7 of 500: 1,234 tokens/s",
        "update 20 of 500: 900 tokens/s, loss 3.250",
    ]
    assert SILENCE < 30


def test_processes_other_than_the_first_say_nothing(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    bar = ProgressBar(500, "update", False, lambda: now[0])
    now[0] = 2 * SILENCE
    with caplog.at_level(logging.INFO, "sieve"):
        bar.wait(7, 1234.5)
        bar.show(8, 900, 3.25)
    bar.close()
    assert caplog.messages == []
