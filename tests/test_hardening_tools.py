"""`make mutants` and `make torture`: what they change, how they resume, what they count."""

import ast
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

import pytest
from echo import echo, swapped

import mutants
import mutations
import torture
import torture_kills
from sieve.documents import FORMATS, translate_bytes
from torture_coverage import READERS, seeds
from torture_documents import GOOD, WORD, packed


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
    told = mutations.changed(node)
    assert bool(told) == (after is not None)
    assert ast.unparse(node) == (before if after is None else after)


def test_a_statement_is_left_out() -> None:
    tree = ast.parse("def f():\n    a()\n    return 1")
    assert mutations.changed(tree.body[0]) == "line 2 left out"
    assert "a()" not in ast.unparse(tree) and "return 1" in ast.unparse(tree)


def test_every_room_has_changes_and_every_change_is_of_the_source() -> None:
    every = list(mutations.mutants())
    assert {mutant.room for mutant in every} == mutations.ROOMS.keys()
    assert len({(m.path, m.number) for m in every}) == len(every) > 1000
    for mutant in every[:: len(every) // 20]:
        before = ast.unparse(ast.parse((mutations.ROOT / mutant.path).read_text()))
        assert mutations.source_of(mutant) != before
        assert all(
            (mutations.ROOT / test).exists() for tests in mutants.tests_of(mutant) for test in tests
        )


def test_tests_run_the_copy_that_is_changed(tmp_path: Path) -> None:
    tree = mutants.copied(tmp_path)
    shown = subprocess.check_output(
        [sys.executable, "-c", "import sieve._native; print(sieve._native.__file__)"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        text=True,
    )
    assert Path(shown).is_relative_to(tree)


def test_torture_tries_each_case_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def cases(first: int, scratch: Path) -> Iterator[str]:
        number = first
        while True:
            asked.append(number)
            yield "FAIL silent: 7" if number == 7 else "refused"
            number += 1

    def attacked(count: int, jobs: int) -> torture.Tally:
        left = torture.missing(torture.tallies("kills", tmp_path), count)
        for share in torture.shares(left, jobs):
            torture.attack("kills", share, time.monotonic() + 60, tmp_path)
        return torture.total(torture.tallies("kills", tmp_path))

    monkeypatch.setattr(torture, "cases_of", lambda name: cases)
    torture.attack("kills", [range(5, 7)], time.monotonic() + 60, tmp_path)  # another machine
    attacked(6, 2)
    tally = attacked(10, 3)
    assert sorted(asked) == [*range(10)]
    assert (tally.cases, tally.outcomes) == (10, {"refused": 9, "FAIL silent": 1})
    assert tally.failures == ["7: FAIL silent: 7"]
    attacked(10, 1)
    assert len(asked) == 10
    monkeypatch.setattr(torture, "RESULTS", tmp_path / "torture.json")
    for name in ("soak", "kills"):
        torture.merge(name, tally)
    parts = json.loads((tmp_path / "torture.json").read_text())["parts"]
    assert list(parts) == ["kills", "soak"]
    assert (parts["kills"]["wanted"], parts["kills"]["cases"]) == (200, 10)
    torture.attack("kills", [range(6, 7)], time.monotonic() + 60, tmp_path)
    with pytest.raises(SystemExit, match="the same cases"):
        attacked(10, 1)


def test_torture_ends_when_its_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torture, "cases_of", lambda name: lambda first, scratch: repeat("refused"))
    torture.attack("kills", [range(9)], time.monotonic(), tmp_path)
    assert torture.total(torture.tallies("kills", tmp_path)).cases == 1


def test_what_cannot_be_done_here_is_no_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        torture, "cases_of", lambda name: lambda first, scratch: iter(["skipped: x"])
    )
    torture.attack("coverage", [range(1)], time.monotonic() + 60, tmp_path)
    assert not torture.tallies("coverage", tmp_path)


def test_a_child_that_ends_is_a_failure_and_the_next_case_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "first, count = map(int, sys.argv[-2:])\n"
        "for number in range(first, first + count):\n"
        "    if number == 3:\n"
        "        raise SystemExit('gone')\n"
        "    print('\"refused\"', flush=True)\n"
    )
    monkeypatch.setattr(torture, "__file__", str(program))
    torture.attack("models", [range(1, 6)], time.monotonic() + 60, tmp_path)
    tally = torture.total(torture.tallies("models", tmp_path))
    assert tally.outcomes == {"refused": 4, "FAIL crash": 1}
    assert tally.failures == ["3: FAIL crash: 1: gone\n"]


@pytest.mark.parametrize("part", ["models", "strings"])
def test_a_few_cases(part: str, tmp_path: Path) -> None:
    torture.attack(part, [range(20)], time.monotonic() + 60, tmp_path)  # in a child
    tally = torture.total(torture.tallies(part, tmp_path))
    assert tally.cases == 20 and not tally.failures
    assert len(tally.outcomes) > 1


def test_documents_of_every_format_are_attacked_where_they_are_translated() -> None:
    assert GOOD.keys() == FORMATS.keys()
    for form, part in GOOD.items():
        written = translate_bytes(echo(swapped), packed(form, part), format=form)
        changed = part.replace(WORD.encode(), WORD.swapcase().encode())
        assert written != packed(form, part) and changed != part, form


def test_each_reader_has_a_good_input(tmp_path: Path) -> None:
    for name, data in seeds(tmp_path).items():
        READERS[name](data, tmp_path)
    assert seeds(tmp_path).keys() == READERS.keys()


@pytest.mark.parametrize("part", torture.PARTS)
def test_every_part_is_there(part: str) -> None:
    assert callable(torture.cases_of(part))


def test_what_kills_and_is_tested_exists() -> None:
    for test in torture_kills.TESTS:
        path, _, name = test.partition("::")
        assert f"\ndef {name}(" in (mutations.ROOT / path).read_text(), test
