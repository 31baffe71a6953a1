"""`make mutants` and `make torture`: what they change, how they resume, what they count."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import mutants
import torture


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a < b", "a <= b"),
        ("a == b", "a != b"),
        ("a in b", "a not in b"),
        ("a + b", "a - b"),
        ("a and b", "a or b"),
        ("not a", "+bool(a)"),
        ("7", "8"),
        ("True", "False"),
        ("min(a, b)", "max(a, b)"),
        ("a.b", None),
        ("'text'", None),
    ],
)
def test_what_is_changed(before: str, after: str | None) -> None:
    node = ast.parse(before, mode="eval").body
    told = mutants.changed(node)
    assert bool(told) == (after is not None)
    assert ast.unparse(node) == (before if after is None else after)


def test_a_statement_is_left_out() -> None:
    tree = ast.parse("def f():\n    a()\n    return 1")
    assert mutants.changed(tree.body[0]) == "line 2 left out"
    assert "a()" not in ast.unparse(tree) and "return 1" in ast.unparse(tree)


def test_every_room_has_changes_and_every_change_is_of_the_source() -> None:
    every = list(mutants.mutants())
    assert {mutant.room for mutant in every} == mutants.ROOMS.keys()
    assert len({(m.path, m.number) for m in every}) == len(every) > 1000
    for mutant in every[:: len(every) // 20]:
        before = ast.unparse(ast.parse((mutants.ROOT / mutant.path).read_text()))
        assert mutants.source_of(mutant) != before
        assert all(
            (mutants.ROOT / test).exists() for tests in mutants.tests_of(mutant) for test in tests
        )


def test_torture_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def cases(first: int, scratch: Path) -> Iterator[str]:
        number = first
        while True:
            asked.append(number)
            yield "FAIL silent: 7" if number == 7 else "refused"
            number += 1

    monkeypatch.setattr(torture, "cases_of", lambda name: cases)
    torture.attack("kills", 5, 1.0, tmp_path)
    tally = torture.attack("kills", 9, 1.0, tmp_path)
    assert asked == [*range(9)]
    assert tally.outcomes == {"refused": 8, "FAIL silent": 1}
    assert tally.failures == ["7: FAIL silent: 7"]
    torture.attack("kills", 9, 1.0, tmp_path)
    assert asked == [*range(9)]
    monkeypatch.setattr(torture, "RESULTS", tmp_path / "torture.json")
    for name in ("soak", "kills"):
        torture.merge(name, tally)
    parts = json.loads((tmp_path / "torture.json").read_text())["parts"]
    assert list(parts) == ["kills", "soak"]
    assert (parts["kills"]["wanted"], parts["kills"]["cases"]) == (200, 9)


def test_what_cannot_be_done_here_is_no_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        torture, "cases_of", lambda name: lambda first, scratch: iter(["skipped: x"])
    )
    assert torture.attack("coverage", 1, 1.0, tmp_path).cases == 0
