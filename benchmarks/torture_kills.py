"""Kills at random moments: what the next run ends with is the same as without them."""

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINES = [f"The house number {n} is {colour}." for n in range(40) for colour in ("green", "blue")]
TESTS = [
    "tests/cli/test_train.py::test_a_killed_run_ends_the_same",
    "tests/train/attach/test_attach.py::test_command_line_after_a_kill",
    "tests/cli/test_prepare.py::test_a_killed_run_leaves_no_output_no_process_and_can_be_repeated",
    "tests/serve/test_process.py::test_serves_until_a_signal",
]
"""Training, attaching, preparing and serving: one of them is every tenth case."""
EVERY = 10
SLOWEST = 4.0
"""Seconds after which the kill comes at the latest."""


def cases(first: int, scratch: Path) -> Iterator[str]:
    """See `torture.Cases`."""
    scratch.mkdir(parents=True, exist_ok=True)
    source, whole = scratch / "in", scratch / "whole"
    source.write_text("\n".join(LINES) + "\n")
    subprocess.run(_translate(source, whole), check=True, capture_output=True)
    number = first
    while True:
        if number % EVERY == EVERY - 1:
            yield _tested(TESTS[number // EVERY % len(TESTS)])
        else:
            yield _killed(source, whole, scratch / f"out{number}", random.Random(number))
        number += 1


def _translate(source: Path, output: Path) -> list[str]:
    files = ["--input", str(source), "--output", str(output)]
    return [sys.executable, "-m", "sieve.cli", "translate", "en-de", "--threads", "1", *files]


def _killed(source: Path, whole: Path, output: Path, rng: random.Random) -> str:
    kills = 0
    while not output.exists():
        child = subprocess.Popen(_translate(source, output), stderr=subprocess.DEVNULL)
        try:
            child.wait(rng.uniform(0.2, SLOWEST * (1 + kills)))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            kills += 1
    same = output.read_bytes() == whole.read_bytes()
    left = [path.name for path in output.parent.glob(f".{output.name}.*")]
    output.unlink()
    if not same or left:
        return f"FAIL: after {kills} kills the output differs, or there is {left}"
    return f"killed {min(kills, 3)} times"


def _tested(test: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return "tested" if done.returncode == 0 else f"FAIL {test}: {done.stdout[-200:]!r}"
