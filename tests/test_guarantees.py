"""Every promise of docs/guarantees.md names tests, and those exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
PROMISES = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
TEST = re.compile(r"^- `(tests/[\w/]+\.py)::(test_\w+)`$", re.MULTILINE)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda text: text.partition("\n")[0])
def test_a_promise_has_tests_that_exist(promise: str) -> None:
    named = TEST.findall(promise)
    assert named and len(named) == promise.count("\n- ")
    for path, function in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert function in tests, f"{path} has no {function}"


def test_all_eight_promises_are_there() -> None:
    assert len(PROMISES) == 8
