"""Stages and stamps: what runs, what is skipped, what is put aside, what a kill leaves."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.driver import Choice, carry_out, chosen
from pipeline.stage import Stage, Stamps
from pipeline.tools import SlotOverError, Verbs
from sieve.errors import InputError
from sieve.processes.locks import FileLock


def stage(folder: Path, name: str, *inputs: str, run: Callable[[], None] | None = None) -> Stage:
    """A stage that joins the text of its inputs."""
    output, sources = folder / name, tuple(folder / source for source in inputs)

    def join() -> None:
        output.write_text("".join(path.read_text() for path in sources) + name + " ")

    return Stage(name, f"makes {name}", run or join, sources, (output,))


def chain(folder: Path) -> list[Stage]:
    """a and b from raw, c from both, d from raw."""
    return [
        stage(folder, "a", "raw"),
        stage(folder, "b", "raw"),
        stage(folder, "c", "a", "b"),
        stage(folder, "d", "raw"),
    ]


def run(folder: Path, stages: list[Stage], choice: Choice = Choice()) -> dict[str, str]:  # noqa: B008
    """The driver's line for each stage, without the time."""
    lines: list[str] = []
    carry_out(stages, choice, Stamps(folder / "stamps"), lines.append)
    parts = (line.partition(": ") for line in lines)
    return {name: text.partition("(")[2].rstrip(")") or text for name, _, text in parts}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "raw").write_text("raw ")
    return tmp_path


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (Choice(), "abcd"),
        (Choice(("c",)), "abc"),
        (Choice(("c",), only=True), "c"),
        (Choice(first="b"), "bcd"),
        (Choice(last="b"), "ab"),
        (Choice(first="b", last="c"), "bc"),
        (Choice(("c", "d"), first="b"), "bcd"),
    ],
)
def test_what_is_chosen(folder: Path, choice: Choice, expected: str) -> None:
    assert "".join(stage.name for stage in chosen(chain(folder), choice)) == expected


def test_only_what_changed_runs_again(folder: Path) -> None:
    stages = chain(folder)
    assert run(folder, stages) == dict.fromkeys("abcd", "not run yet")
    assert (folder / "c").read_text() == "raw a raw b c "
    assert run(folder, stages) == dict.fromkeys("abcd", "done before")
    (folder / "raw").touch()  # the same content
    assert run(folder, stages) == dict.fromkeys("abcd", "done before")
    (folder / "b").unlink()
    again = run(folder, stages)
    assert again["b"] == f"{folder / 'b'} is missing or was changed"
    assert again["c"] == "done before"  # b came out as it was
    (folder / "raw").write_text("new ")
    assert run(folder, stages)["a"] == f"{folder / 'raw'} changed"
    assert (folder / "c").read_text() == "new a new b c "
    assert (folder / "aside" / "a" / "a").read_text() == "raw a "
    again = run(folder, stages, Choice(("d",), again=True))
    assert again == {"d": "again"}


def test_settings_and_budget(folder: Path) -> None:
    begun = []
    one = replace(stage(folder, "a", "raw"), settings={"size": 1}, budget={"minutes": 1})
    kept = replace(one, run=lambda: begun.append((folder / "a").exists()))
    run(folder, [one])
    assert run(folder, [replace(kept, budget={"minutes": 2})]) == {"a": "its budget changed"}
    with pytest.raises(InputError, match=r"^a: ended without .*a; see what it printed$"):
        run(folder, [replace(kept, settings={"size": 2})])
    assert begun == [True, False]  # continued, then started again


def test_a_stage_that_grows_keeps_what_it_has(folder: Path) -> None:
    parts = folder / "parts"
    parts.mkdir()
    (parts / "1").write_text("1")
    begun = []

    def grow() -> None:
        begun.append(sorted(path.name for path in (folder / "out").glob("*")))
        (folder / "out").mkdir(exist_ok=True)
        for path in parts.iterdir():
            (folder / "out" / path.name).write_text("made")

    one = replace(stage(folder, "out", "parts", run=grow), grows=True)
    run(folder, [one])
    (parts / "2").write_text("2")
    run(folder, [one])
    assert run(folder, [one]) == {"out": "done before"}
    (parts / "1").write_text("changed")
    run(folder, [one])
    assert begun == [[], ["1"], []]


def test_a_missing_input_names_who_makes_it(folder: Path) -> None:
    with pytest.raises(InputError, match=r"^c: .*a not found; run 'a' first$"):
        run(folder, chain(folder), Choice(("c",), only=True))


def test_another_process_is_at_it(folder: Path) -> None:
    (folder / "stamps").mkdir()
    lock = FileLock(folder / "stamps" / "a.lock")
    with pytest.raises(InputError, match=r"^a: another process is at it; wait for it$"):
        run(folder, chain(folder))
    lock.release()


KILLED = """
import sys, time
from pathlib import Path
from test_driver import Stamps, carry_out, Choice, stage
folder = Path(sys.argv[1])
def hang():
    (folder / "a").write_text("half")
    (folder / "hangs").touch()
    time.sleep(600)
carry_out([stage(folder, "a", "raw", run=hang)], Choice(), Stamps(folder / "stamps"), print)
"""


def test_a_killed_stage_is_not_done(folder: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(folder)]
    process = subprocess.Popen(command, cwd=Path(__file__).parent)
    while not (folder / "hangs").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert run(folder, [stage(folder, "a", "raw")]) == {"a": "interrupted"}
    assert (folder / "a").read_text() == "raw a "


def test_verbs_end_with_the_slot() -> None:
    verbs = Verbs(0.05)
    time.sleep(0.06)
    with pytest.raises(SlotOverError, match="rerun to resume"):
        verbs("--help")


def test_a_verb_that_fails_ends_the_stage(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^sieve convert ended with status 2; see what it"):
        Verbs()("convert", tmp_path / "nothing", "--int8", "--output", tmp_path / "out")
