"""What could not be kept of a line is said on stderr and in JSON."""

import logging
from typing import Any

import pytest

from sieve.cli.line_by_line import Lines
from sieve.translate.translation import Request, Translation

NOTHING: Any = None
LOST = Translation("Katzen", -1.0, 5, 9, (), (), warnings=("the number 18 is missing",))
KEPT = Translation("18 Katzen", -1.0, 5, 9, (), ())


def test_logged_with_the_line(caplog: pytest.LogCaptureFixture) -> None:
    lines = Lines(NOTHING, Request(), "", json=False)
    with caplog.at_level(logging.WARNING, "sieve"):
        lines.warn([KEPT, LOST], ["a", "18 cats " + "x" * 100])
    assert caplog.messages == ["the number 18 is missing: 18 cats " + "x" * 72]


def test_in_json_only_where_something_is_wrong() -> None:
    assert LOST.to_dict()["warnings"] == ["the number 18 is missing"]
    assert "warnings" not in KEPT.to_dict()
