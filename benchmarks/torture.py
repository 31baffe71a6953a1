"""Attacks what docs/guarantees.md promises, in parts that resume when rerun.

    python benchmarks/torture.py PART [--count N] [--jobs 1] [--minutes 55] [--work build/torture]

PART is requests, models, strings, kills, soak, sanitizers or coverage. Each case has a number that
decides everything about it; a part tries those that no tally in the work folder has, until it has
as many as it should or its time is up, and puts the sum of the tallies into
docs/results/torture.json. Tallies of another machine join by being copied there. Cases that could
end a process run in a child, so that a crash or a hang is counted and the next case begins. Exits
with 1 where a promise was broken.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "benchmarks")]

from torture_coverage import READERS  # noqa: E402 (it stands beside this)

RESULTS = ROOT / "docs" / "results" / "torture.json"
BATCH = 100
"""Cases of a child at most."""
PATIENCE = 60.0
"""Seconds for a case in a child, on however busy a machine."""
EXAMPLES = 20
"""Failures that are kept word for word."""
FAIL, SKIPPED = "FAIL", "skipped"
"""What an outcome begins with that breaks a promise, or says why nothing can be done here."""

Cases = Callable[[int, Path], Iterator[str]]
"""Outcomes of the cases from a number on, without end; the folder is for scratch."""


@dataclass(frozen=True)
class Part:
    """One kind of attack."""

    wanted: int
    """Cases of a full run."""
    module: str
    """Of this folder; has a function `cases`."""
    in_child: bool = False
    """Whether a case could end its process."""


PARTS = {
    "requests": Part(20_000, "torture_requests"),
    "models": Part(10_000, "torture_models", in_child=True),
    "strings": Part(50_000, "torture_strings", in_child=True),
    "kills": Part(200, "torture_kills"),
    "soak": Part(30, "torture_soak"),
    "sanitizers": Part(1, "torture_sanitizers"),
    "coverage": Part(len(READERS), "torture_coverage"),
}


@dataclass
class Tally:
    """What became of cases so far."""

    first: int = 0
    cases: int = 0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def add(self, outcome: str) -> None:
        """Counts a case."""
        number = self.first + self.cases
        self.cases += 1
        kind = outcome.partition(":")[0]
        self.outcomes[kind] = self.outcomes.get(kind, 0) + 1
        if kind.startswith(FAIL) and len(self.failures) < EXAMPLES:
            self.failures.append(f"{number}: {outcome[:300]}")


def cases_of(name: str) -> Cases:
    """The function of a part."""
    cases: Cases = __import__(PARTS[name].module).cases
    return cases


def in_children(name: str, cases: range, scratch: Path) -> Iterator[str]:
    """The same cases, a batch in a child at a time."""
    while cases:
        batch = cases[:BATCH]
        command = [sys.executable, __file__, name, "--work", str(scratch)]
        command += ["--child", str(batch.start), str(len(batch))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            try:
                shown, errors = child.communicate(timeout=PATIENCE * len(batch))
            except subprocess.TimeoutExpired:
                child.kill()
                shown, errors = child.communicate()
        outcomes = [json.loads(line) for line in shown.decode().splitlines()]
        if len(outcomes) < len(batch):
            why = errors.decode(errors="replace")[-200:]
            outcomes.append(f"{FAIL} crash: {child.returncode}: {why}")
        yield from outcomes
        cases = cases[len(outcomes) :]


def child(name: str, first: int, count: int, scratch: Path) -> None:
    """A batch, a line of JSON for each outcome."""
    for outcome in islice(cases_of(name)(first, scratch), count):
        print(json.dumps(outcome), flush=True)


def attack(name: str, ranges: list[range], end: float, work: Path) -> None:
    """Tries ranges of cases, each with a tally of its own, until `time.monotonic` is at the end."""
    for cases in filter(None, ranges):
        tally, begin = Tally(cases.start), time.monotonic()
        path = work / f"{name}.{cases.start}.json"
        scratch = work / f"{name}.{cases.start}.scratch"
        run = in_children(name, cases, scratch) if PARTS[name].in_child else None
        for outcome in islice(run or cases_of(name)(cases.start, scratch), len(cases)):
            if outcome.startswith(SKIPPED):
                print(outcome)
                return
            tally.add(outcome)
            tally.seconds = round(time.monotonic() - begin, 1)
            path.write_text(json.dumps(asdict(tally)))
            if time.monotonic() > end:
                return


def tallies(name: str, work: Path) -> list[Tally]:
    """What earlier runs, here or on other machines, have come to."""
    read = (json.loads(path.read_text()) for path in work.glob(f"{name}.*.json"))
    return sorted((Tally(**values) for values in read), key=lambda tally: tally.first)


def missing(done: list[Tally], count: int) -> list[range]:
    """The cases that none of the tallies has."""
    ends = [0, *(tally.first + tally.cases for tally in done)]
    firsts = [*(tally.first for tally in done), count]
    if any(first < end for first, end in zip(firsts[:-1], ends, strict=False)):
        raise SystemExit("two tallies have the same cases: remove one")
    return [range(end, min(first, count)) for first, end in zip(firsts, ends, strict=True)]


def total(done: list[Tally]) -> Tally:
    """All tallies as one."""
    both = Tally()
    for tally in done:
        both.cases += tally.cases
        both.seconds = round(both.seconds + tally.seconds, 1)
        for kind, count in tally.outcomes.items():
            both.outcomes[kind] = both.outcomes.get(kind, 0) + count
        both.failures += tally.failures
    return both


def shares(ranges: list[range], jobs: int) -> list[list[range]]:
    """Cases for each of several processes."""
    return [
        [cases[len(cases) * job // jobs : len(cases) * (job + 1) // jobs] for cases in ranges]
        for job in range(jobs)
    ]


def merge(name: str, tally: Tally) -> None:
    """Joins a part's tally to the others'."""
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    parts = results.get("parts", {})
    content = {key: value for key, value in asdict(tally).items() if key != "first"}
    parts[name] = {"wanted": PARTS[name].wanted, **content}
    content = {
        "command": "python benchmarks/torture.py PART",
        "parts": {name: parts[name] for name in PARTS if name in parts},
    }
    RESULTS.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", choices=[*PARTS])
    parser.add_argument("--count", type=int, help="cases in all (default: those of a full run)")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--minutes", type=float, default=55.0)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "torture")
    parser.add_argument("--child", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    name, work, jobs = arguments.part, arguments.work, arguments.jobs
    if arguments.child is not None:
        child(name, *arguments.child, work)
        return 0
    work.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * arguments.minutes
    left = missing(tallies(name, work), arguments.count or PARTS[name].wanted)
    with ProcessPoolExecutor(jobs) as pool:
        done = [pool.submit(attack, name, share, end, work) for share in shares(left, jobs)]
        for each in done:
            each.result()
    tally = total(tallies(name, work))
    merge(name, tally)
    print(f"{name}: {tally.cases} of {PARTS[name].wanted}, {tally.outcomes}")
    for failure in tally.failures:
        print(failure)
    return int(bool(tally.failures))


if __name__ == "__main__":
    sys.exit(main())
