"""The Dockerfile, as far as that goes without an engine to build it."""

import json
import re
from pathlib import Path

from sieve.cli.main import verb_parser

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
STEPS = [line for line in LINES if line and not line.startswith("#")]


def final_stage() -> list[str]:
    last = max(place for place, line in enumerate(STEPS) if line.startswith("FROM "))
    return STEPS[last:]


def test_the_server_is_no_root() -> None:
    stage = final_stage()
    user = next(place for place, line in enumerate(stage) if line.startswith("USER "))
    assert stage[user].split()[1] not in ("root", "0")
    assert not any(line.startswith("RUN ") for line in stage[user:])


def test_nothing_is_built_or_fetched_in_the_final_stage() -> None:
    installs = [line for line in final_stage() if "pip install" in line]
    assert len(installs) == 1 and "--no-index" in installs[0]
    assert not re.search(r"torch|g\+\+|cmake", "\n".join(final_stage()))


def test_the_command_is_one_that_the_program_knows() -> None:
    (entry,) = [line for line in STEPS if line.startswith("ENTRYPOINT ")]
    command = json.loads(entry.partition(" ")[2])
    assert command[:2] == ["sieve", "serve"]
    found = verb_parser("serve").parse_args(command[2:])
    (exposed,) = [line for line in STEPS if line.startswith("EXPOSE ")]
    assert found.port == int(exposed.split()[1])
    assert found.host == "127.0.0.1"  # to the outside only where somebody says so


def test_what_the_build_needs_is_sent() -> None:
    rules = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert rules[0] == "*"
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = {"pyproject.toml", "src", "native", *re.findall(r'"(README\.md|LICENSE)"', project)}
    assert {f"!{name}" for name in needed} <= set(rules)
