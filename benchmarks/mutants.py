"""Changes one thing in the source at a time and asks whether the tests of its room notice.

    python benchmarks/mutants.py [--sample 400] [--seed 1] [--jobs 1] [--minutes 60]
                                 [--work build/mutants]

Draws a sample of small changes (`<` to `<=`, `+` to `-`, a constant by one, `and` to `or`, a
statement left out, …) over selection, search, repair, files and the server's limits; each runs in a
copy of the source against the tests of its file, then of its room. Resumes when rerun; a change is
asked again when its file or tests have changed. What another machine has asked joins when its
`*.jsonl` is copied into the work folder. Writes docs/results/mutants.json, and exits with 1 where
fewer than nine of ten are noticed.
"""

import argparse
import contextlib
import hashlib
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

import pytest

from mutations import ROOMS, ROOT, Mutant, mutants, source_of

RESULTS = ROOT / "docs" / "results" / "mutants.json"
TIMEOUT = 1200
"""Seconds, on however busy a machine: a change that makes tests wait for ever is noticed."""
CPU_SECONDS = 150
"""That tests may work: one that makes them run for ever, too."""
QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Of what is imported before pytest sees it."""
WARM = ("numpy", "torch", "hypothesis", "sentencepiece", "starlette", "uvicorn", "pydantic")
"""Imported once for all; the package itself is imported anew for every change."""
WANTED = 0.9
NOT_EDITABLE = """
import sys
sys.meta_path[:] = [m for m in sys.meta_path if not type(m).__module__.startswith("_editable")]
"""
"""Takes away what would find the package itself, and not the copy."""


@dataclass
class Outcome:
    """What became of it."""

    mutant: Mutant
    noticed: bool
    by: str
    """The tests that failed, or `time`."""
    content: str
    """Hash of the file and of the tests that were asked."""
    why: str = ""
    """Of a survivor: why it may live."""


def sample(every: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """As many of them, drawn so that an edit of one file changes nothing about the others."""

    def place(mutant: Mutant) -> str:
        return hashlib.sha256(f"{seed}:{mutant.key}".encode()).hexdigest()

    return sorted(every, key=place)[:count]


def tests_of(mutant: Mutant) -> list[list[str]]:
    """The tests of its file, then those of its room."""
    stem = Path(mutant.path).stem
    everywhere = ROOMS[mutant.room][1]
    own = sorted(
        path.relative_to(ROOT).as_posix()
        for place in everywhere
        for path in (ROOT / place).parent.glob(f"**/test_{stem}.py")
    )
    return [tests for tests in (list(dict.fromkeys(own)), everywhere) if tests]


def ask(mutant: Mutant, work: Path, content: str) -> Outcome:
    """Runs the tests in a copy of the source that has the change."""
    path = work / mutant.path
    before = path.read_bytes()
    path.write_text(source_of(mutant), encoding="utf-8")
    try:
        for tests in tests_of(mutant):
            failed = run(tests, work)
            if failed:
                return Outcome(mutant, True, failed, content)
        return Outcome(mutant, False, "", content)
    finally:
        path.write_bytes(before)


def run(tests: list[str], work: Path) -> str:
    """What failed first, empty where nothing did."""
    log = work.parent / "log"
    child = os.fork()  # with all that is slow to import
    if not child:
        os._exit(_tested(tests, work, log))
    end = time.monotonic() + TIMEOUT
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "time"
        time.sleep(0.1)
    if status == 0:
        return ""
    shown = log.read_text(errors="replace").splitlines()
    lines = [line for line in shown if line.startswith(("FAILED ", "ERROR "))]
    return lines[0].split(" - ")[0].partition(" ")[2] if lines else f"status {status}"


def _tested(tests: list[str], work: Path, log: Path) -> int:
    """Runs tests in this process, which ends then."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(work)
    os.environ |= {"PYTHONPATH": str(work / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(work / "src"))
    exec(NOT_EDITABLE)
    options = ["-x", "-q", "-p", "no:cacheprovider", *QUIET]
    return int(pytest.main([*options, *tests]))


def content_of(mutant: Mutant) -> str:
    """Hash of the file, and of the tests of its room."""
    digest = hashlib.sha256((ROOT / mutant.path).read_bytes())
    for place in ROOMS[mutant.room][1]:
        path = ROOT / place
        for test in sorted(path.rglob("test_*.py")) if path.is_dir() else [path]:
            digest.update(test.read_bytes())
    return digest.hexdigest()[:16]


def copied(work: Path) -> Path:
    """A copy of the source, with links to everything else that tests look at."""
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
    program = "import sieve._native; print(sieve._native.__file__)"
    core = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    shutil.copy(core.stdout.strip(), tree / "src" / "sieve")
    (tree / "src" / "sitecustomize.py").write_text(NOT_EDITABLE)  # for what tests start
    for path in ROOT.iterdir():
        if path.name not in ("src", "build", ".git", ".venv"):
            (tree / path.name).symlink_to(path)
    return tree


def known(work: Path) -> dict[str, Outcome]:
    """What an earlier run found."""
    outcomes = {}
    for line in chain.from_iterable(
        path.read_text().splitlines() for path in sorted(work.glob("*.jsonl"))
    ):
        values = json.loads(line)
        mutant = Mutant(**values.pop("mutant"))
        outcomes[mutant.key] = Outcome(mutant, **values)
    return outcomes


def _answer(mutant: Mutant, answered: dict[str, Outcome]) -> Outcome | None:
    """What is known of a change, unless its file or tests have changed."""
    outcome = answered.get(mutant.key)
    return outcome if outcome and outcome.content == content_of(mutant) else None


@cache
def _tree(work: Path) -> Path:
    """A copy of the source for this process."""
    return copied(work / "trees" / str(os.getpid()))


def _sound(room: str, work: Path) -> str:
    """Of the tests of a room those that fail without any change."""
    return run(ROOMS[room][1], _tree(work))


def _asked(mutant: Mutant, work: Path, end: float) -> None:
    """Asks about a change, if there is time left."""
    if time.monotonic() < end:
        outcome = ask(mutant, _tree(work), content_of(mutant))
        with (work / "outcomes.jsonl").open("a") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")


def summary(outcomes: list[Outcome], sample: int, seed: int) -> dict[str, object]:
    """What the page shows."""
    explained = {}
    if RESULTS.is_file():
        explained = {
            each["where"]: each["why"] for each in json.loads(RESULTS.read_text())["survivors"]
        }
    rooms = {
        room: {"asked": len(own), "noticed": sum(each.noticed for each in own)}
        for room in ROOMS
        if (own := [each for each in outcomes if each.mutant.room == room])
    }
    survivors = [
        {"where": f"{m.path}:{m.line}", "change": m.change,
         "why": explained.get(f"{m.path}:{m.line}", "")}
        for m in (each.mutant for each in outcomes if not each.noticed)
    ]  # fmt: skip
    noticed = sum(each.noticed for each in outcomes)
    return {
        "command": f"python benchmarks/mutants.py --sample {sample} --seed {seed}",
        "sample": sample,
        "asked": len(outcomes),
        "noticed": noticed,
        "share": round(noticed / max(1, len(outcomes)), 4),
        "rooms": rooms,
        "survivors": survivors,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    arguments = parser.parse_args()
    work: Path = arguments.work
    every = list(mutants())
    chosen = sample(every, arguments.sample, arguments.seed)
    work.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * arguments.minutes
    answered = known(work)
    left = [each for each in chosen if not _answer(each, answered)]
    for module in WARM:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    shutil.rmtree(work / "trees", ignore_errors=True)
    with ProcessPoolExecutor(arguments.jobs, get_context("fork")) as pool:
        rooms = sorted({mutant.room for mutant in left})
        failed = dict(zip(rooms, pool.map(partial(_sound, work=work), rooms), strict=True))
        for room in filter(failed.get, rooms):
            print(f"{room} is left out: {failed[room]} fails without any change", flush=True)
        list(pool.map(partial(_asked, work=work, end=end), [m for m in left if not failed[m.room]]))
    answered = known(work)
    outcomes = [outcome for each in chosen if (outcome := _answer(each, answered))]
    result = summary(outcomes, arguments.sample, arguments.seed)
    RESULTS.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for each in outcomes:
        if not each.noticed:
            print(f"LIVES: {each.mutant.path}:{each.mutant.line} {each.mutant.change}")
    print(f"{result['noticed']} of {result['asked']} noticed ({len(every)} in all)")
    return int(float(str(result["share"])) < WANTED)


if __name__ == "__main__":
    sys.exit(main())
