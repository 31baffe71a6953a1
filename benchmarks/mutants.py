"""Changes one thing in the source at a time and asks whether the tests of its room notice.

    python benchmarks/mutants.py [--sample 400] [--seed 1] [--minutes 60] [--work build/mutants]

Draws a sample of small changes (`<` to `<=`, `+` to `-`, a constant by one, `and` to `or`, a
statement left out, …) over selection, search, repair, files and the server's limits; each runs in a
copy of the source against the tests of its file, then of its room. Resumes when rerun; a change is
asked again when its file or tests have changed. Writes docs/results/mutants.json, and exits with 1
where fewer than nine of ten are noticed.
"""

import argparse
import ast
import contextlib
import copy
import hashlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results" / "mutants.json"
ROOMS = {
    "selection": (["selection/*.py"], ["tests/selection"]),
    "search": (
        ["engines/options.py", "engines/native/*.py", "translate/parts.py",
         "translate/confidence.py"],
        ["tests/engines", "tests/translate/test_parts.py", "tests/translate/test_confidence.py",
         "tests/native/test_properties.py"],
    ),
    "repair": (["repair/*.py"], ["tests/repair"]),
    "files": (
        ["files/*.py", "bundle/integrity.py"], ["tests/files", "tests/bundle/test_integrity.py"],
    ),
    "resume": (["translate/resumable.py", "cli/line_by_line.py"], ["tests/cli/test_translate.py"]),
    "serve": (
        ["serve/access.py", "serve/settings.py", "serve/web/connection.py", "serve/web/body.py"],
        ["tests/serve/test_access.py", "tests/serve/test_connections.py",
         "tests/serve/test_robustness.py"],
    ),
}  # fmt: skip
TIMEOUT = 1200
"""Seconds, on however busy a machine: a change that makes tests wait for ever is noticed."""
CPU_SECONDS = 150
"""That tests may work: one that makes them run for ever, too."""
QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Of what is imported before pytest sees it."""
WARM = ("numpy", "torch", "hypothesis", "sentencepiece", "starlette", "uvicorn", "pydantic")
"""Imported once for all; the package itself is imported anew for every change."""
WANTED = 0.9
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And, ast.Break: ast.Continue,
    ast.Continue: ast.Break,
}  # fmt: skip
OTHER_CALL = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """One change."""

    room: str
    path: str
    line: int
    number: int
    """Of the node, in the order of `ast.walk`."""
    change: str


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


def changed(node: ast.AST) -> str:
    """Changes a node in place and says how; empty where nothing is to be changed."""
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in SWAPPED:
            node.ops[0] = SWAPPED[type(op)]()  # type: ignore[call-overload]
            return f"{type(op).__name__} to {type(node.ops[0]).__name__}"
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in SWAPPED:
            node.op = SWAPPED[type(op)]()  # type: ignore[assignment]
            return f"{type(op).__name__} to {type(node.op).__name__}"
        case ast.UnaryOp(op=ast.Not()):
            node.op = ast.UAdd()  # the value itself, as far as truth goes
            node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])
            return "not left out"
        case ast.Constant(value=bool(value)):
            node.value = not value
            return f"{value} to {not value}"
        case ast.Constant(value=int(value) | float(value)):
            node.value = value + 1
            return f"{value} to {value + 1}"
        case ast.Call(func=ast.Name(id=name) as function) if name in OTHER_CALL:
            function.id = OTHER_CALL[name]
            return f"{name} to {OTHER_CALL[name]}"
    return _without_statement(node)


def _without_statement(node: ast.AST) -> str:
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return ""
    for place, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            body[place] = ast.copy_location(ast.Pass(), statement)
            return f"line {statement.lineno} left out"
        if isinstance(statement, ast.Break | ast.Continue):
            other: ast.stmt = SWAPPED[type(statement)]()  # type: ignore[assignment]
            body[place] = ast.copy_location(other, statement)
            return f"{type(statement).__name__} to {type(other).__name__}"
    return ""


def mutants() -> Iterator[Mutant]:
    """All there are."""
    for room, (patterns, _) in ROOMS.items():
        for pattern in patterns:
            for path in sorted((ROOT / "src" / "sieve").glob(pattern)):
                tree = ast.parse(path.read_text(encoding="utf-8"))
                skipped = _not_run(tree)
                for number, node in enumerate(ast.walk(tree)):
                    if node in skipped:
                        continue
                    change = changed(copy.deepcopy(node))
                    if change:
                        name = path.relative_to(ROOT).as_posix()
                        yield Mutant(room, name, getattr(node, "lineno", 0), number, change)


def _not_run(tree: ast.AST) -> set[ast.AST]:
    """Annotations and decorators, whose changes are no changes of what is done."""
    left_out = [
        part
        for node in ast.walk(tree)
        for part in (
            getattr(node, "annotation", None),
            getattr(node, "returns", None),
            *getattr(node, "decorator_list", ()),
        )
        if isinstance(part, ast.AST)
    ]
    return {node for part in left_out for node in ast.walk(part)}


def source_of(mutant: Mutant) -> str:
    """The file with the change."""
    tree = ast.parse((ROOT / mutant.path).read_text(encoding="utf-8"))
    node = next(node for number, node in enumerate(ast.walk(tree)) if number == mutant.number)
    changed(node)
    return ast.unparse(ast.fix_missing_locations(tree))


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
    for path in ROOT.iterdir():
        if path.name not in ("src", "build", ".git", ".venv"):
            (tree / path.name).symlink_to(path)
    return tree


def known(work: Path) -> dict[str, Outcome]:
    """What an earlier run found."""
    path = work / "outcomes.jsonl"
    outcomes = {}
    for line in path.read_text().splitlines() if path.is_file() else ():
        values = json.loads(line)
        mutant = Mutant(**values.pop("mutant"))
        outcomes[_key(mutant)] = Outcome(mutant, **values)
    return outcomes


def _key(mutant: Mutant) -> str:
    return f"{mutant.path}:{mutant.number}:{mutant.change}"


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
    arguments = parser.parse_args()
    every = sorted(mutants(), key=_key)
    chosen = random.Random(arguments.seed).sample(every, min(arguments.sample, len(every)))
    arguments.work.mkdir(parents=True, exist_ok=True)
    found, end = known(arguments.work), time.monotonic() + 60 * arguments.minutes
    for module in WARM:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    tree, outcomes, sound = copied(arguments.work), list[Outcome](), set[str]()
    for mutant in chosen:
        content, outcome = content_of(mutant), found.get(_key(mutant))
        if outcome is None or outcome.content != content:
            if time.monotonic() > end:
                continue
            if mutant.room not in sound:
                if failed := run(ROOMS[mutant.room][1], tree):
                    raise SystemExit(f"{mutant.room}: {failed} fails without any change")
                sound.add(mutant.room)
            outcome = ask(mutant, tree, content)
            with (arguments.work / "outcomes.jsonl").open("a") as file:
                file.write(json.dumps(asdict(outcome)) + "\n")
        outcomes.append(outcome)
        print(
            f"{len(outcomes)}: {mutant.path}:{mutant.line} {mutant.change}: {outcome.by or 'LIVES'}"
        )
    result = summary(outcomes, arguments.sample, arguments.seed)
    RESULTS.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{result['noticed']} of {result['asked']} noticed ({len(every)} in all)")
    return int(float(str(result["share"])) < WANTED)


if __name__ == "__main__":
    sys.exit(main())
