"""Attacks what docs/guarantees.md promises, in parts that resume when rerun.

    python benchmarks/torture.py PART [--count N] [--minutes 55] [--work build/torture]

PART is requests, models, strings, kills, soak, sanitizers or coverage. Each case has a number that
decides everything about it; a part goes on behind its last one, ends when it has as many as it
should or its time is up, and joins its tally to docs/results/torture.json. Cases that could end a
process run in a child, so that a crash or a hang is counted and the next case begins. Exits with 1
where a promise was broken.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "benchmarks")]

from torture_coverage import READERS  # noqa: E402 (it stands beside this)

RESULTS = ROOT / "docs" / "results" / "torture.json"
BATCH = 100
"""Cases of a child."""
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
    """What became of the cases so far."""

    cases: int = 0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def add(self, outcome: str) -> None:
        """Counts a case."""
        number = self.cases
        self.cases += 1
        kind = outcome.partition(":")[0]
        self.outcomes[kind] = self.outcomes.get(kind, 0) + 1
        if kind.startswith(FAIL) and len(self.failures) < EXAMPLES:
            self.failures.append(f"{number}: {outcome[:300]}")


def cases_of(name: str) -> Cases:
    """The function of a part."""
    module = __import__(PARTS[name].module)
    cases: Cases = getattr(module, name, None) or module.cases
    return cases


def in_children(name: str, first: int, scratch: Path) -> Iterator[str]:
    """The same cases, a batch in a child at a time."""
    number = first
    while True:
        command = [sys.executable, __file__, name, "--child", str(number), "--work", str(scratch)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            try:
                shown, errors = child.communicate(timeout=PATIENCE * BATCH)
            except subprocess.TimeoutExpired:
                child.kill()
                shown, errors = child.communicate()
        outcomes = [json.loads(line) for line in shown.decode().splitlines()]
        yield from outcomes
        number += len(outcomes)
        if len(outcomes) < BATCH:
            yield f"{FAIL} crash: {child.returncode}: {errors.decode(errors='replace')[-200:]}"
            number += 1


def child(name: str, first: int, scratch: Path) -> None:
    """A batch, a line of JSON for each outcome."""
    outcomes = cases_of(name)(first, scratch)
    for _ in range(BATCH):
        print(json.dumps(next(outcomes)), flush=True)


def attack(name: str, count: int, minutes: float, work: Path) -> Tally:
    """Runs a part from where it stopped."""
    path = work / f"{name}.json"
    work.mkdir(parents=True, exist_ok=True)
    tally = Tally(**json.loads(path.read_text())) if path.is_file() else Tally()
    begin, before = time.monotonic(), tally.seconds
    scratch = work / f"{name}.scratch"
    run = in_children if PARTS[name].in_child else None
    outcomes = (
        (run(name, tally.cases, scratch) if run else cases_of(name)(tally.cases, scratch))
        if tally.cases < count
        else iter(())
    )
    for outcome in outcomes:
        if outcome.startswith(SKIPPED):
            print(outcome)
            break
        tally.add(outcome)
        tally.seconds = round(before + time.monotonic() - begin, 1)
        if tally.cases % BATCH == 0 or tally.cases >= count or not PARTS[name].in_child:
            path.write_text(json.dumps(asdict(tally)))
        if tally.cases >= count or time.monotonic() - begin > 60 * minutes:
            break
    path.write_text(json.dumps(asdict(tally)))
    return tally


def merge(name: str, tally: Tally) -> None:
    """Joins a part's tally to the others'."""
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    parts = results.get("parts", {})
    parts[name] = {"wanted": PARTS[name].wanted, **asdict(tally)}
    content = {
        "command": "python benchmarks/torture.py PART",
        "parts": {name: parts[name] for name in PARTS if name in parts},
    }
    RESULTS.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", choices=[*PARTS])
    parser.add_argument("--count", type=int, help="cases in all (default: those of a full run)")
    parser.add_argument("--minutes", type=float, default=55.0)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "torture")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    name = arguments.part
    if arguments.child is not None:
        child(name, arguments.child, arguments.work)
        return 0
    count = arguments.count or PARTS[name].wanted
    tally = attack(name, count, arguments.minutes, arguments.work)
    merge(name, tally)
    print(f"{name}: {tally.cases} of {PARTS[name].wanted}, {tally.outcomes}")
    for failure in tally.failures:
        print(failure)
    return int(bool(tally.failures))


if __name__ == "__main__":
    sys.exit(main())
