"""Kills at random moments: what the next run ends with is the same as without them.

Five of ten cases translate a file, three are bulk jobs; two are tests that kill training,
attaching, preparing, a server and its workers.
"""

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINES = 2500
"""Three pieces of a bulk job."""
TESTS = [
    "tests/cli/test_train.py::test_a_run_killed_again_and_again_ends_the_same",
    "tests/serve/workers/test_deaths.py::test_a_client_that_retries_once_loses_nothing",
    "tests/train/attach/test_attach.py::test_command_line_after_a_kill",
    "tests/serve/workers/test_deaths.py::test_what_a_dead_worker_had_accepted_is_free_again",
    "tests/cli/test_prepare.py::test_a_killed_run_leaves_no_output_no_process_and_can_be_repeated",
    "tests/serve/test_process.py::test_serves_until_a_signal",
]
MOST = 5
"""Kills of a case."""


def cases(first: int, scratch: Path) -> Iterator[str]:
    """See `torture.Cases`."""
    scratch.mkdir(parents=True, exist_ok=True)
    source = scratch / "in"
    source.write_text("".join(f"I have {n} apples.\n" for n in range(LINES)))
    options = ["en-de", "--beam-size", "1", "--threads", "1"]
    files = ["--input", str(source), "--output", "{}/in"]
    bulk = [str(source), "--output", "{}", "--local", "--workers", "1", "--resume"]
    jobs = [
        Job.tried(["translate", *options, *files], scratch / "translate"),
        Job.tried(["bulk", *options, *bulk], scratch / "bulk"),
    ]
    number = first
    while True:
        kind = number % 10
        if kind >= 8:
            yield _tested(TESTS[(number // 10 * 2 + kind - 8) % len(TESTS)])
        else:
            yield jobs[kind >= 5].killed(scratch / f"case{number}", random.Random(number))
        number += 1


@dataclass(frozen=True)
class Job:
    """A command, and what it does when nobody disturbs it."""

    command: list[str]
    seconds: float
    names: list[str]
    """Of the files that it leaves."""
    content: bytes
    """Of what it writes."""

    @classmethod
    def tried(cls, arguments: list[str], folder: Path) -> "Job":
        """Runs it."""
        command = [sys.executable, "-m", "sieve.cli", *arguments]
        begin = time.monotonic()
        _started(command, folder).wait()
        seconds = time.monotonic() - begin
        return cls(command, seconds, _names(folder), (folder / "in").read_bytes())

    def killed(self, folder: Path, rng: random.Random) -> str:
        """Kills it until it ends before the moment, or has been killed often enough."""
        kills = 0
        while True:
            child = _started(self.command, folder)
            try:
                status = child.wait(rng.uniform(0.1, self.seconds) if kills < MOST else None)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                kills += 1
                continue
            if kills:
                break
            shutil.rmtree(folder)  # it was not killed yet
        names = _names(folder)
        same = "in" in names and (folder / "in").read_bytes() == self.content
        if status or not same or names != self.names:
            return f"FAIL {self.command[3]}: after {kills} kills exit code {status}, {names}"
        shutil.rmtree(folder)
        return f"{self.command[3]}, kills {kills}"


def _started(command: list[str], folder: Path) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    filled = [part.replace("{}", str(folder)) for part in command]
    return subprocess.Popen(filled, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def _tested(test: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", test]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    name = test.rpartition("::")[2]
    return name if done.returncode == 0 else f"FAIL {name}: {done.stdout[-200:]!r}"
