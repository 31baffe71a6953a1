"""The Dockerfile, as far as that goes without an engine to build it."""

import json
import os
import re
import shutil
import subprocess
import urllib.request
import venv
from pathlib import Path

import pytest

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


def sent(folder: Path) -> None:
    """Copies what an engine would be sent (.dockerignore)."""
    for rule in (ROOT / ".dockerignore").read_text(encoding="utf-8").split():
        name = rule.removeprefix("!")
        if rule == name:
            continue
        if (ROOT / name).is_dir():
            leave = shutil.ignore_patterns("__pycache__", "*.so")
            shutil.copytree(ROOT / name, folder / name, ignore=leave)
        else:
            shutil.copy(ROOT / name, folder / name)


def test_what_is_copied_is_there(tmp_path: Path) -> None:
    sent(tmp_path)
    copies = [line.split()[1:-1] for line in STEPS if line.startswith("COPY ")]
    assert copies
    for source in (source for sources in copies for source in sources):
        assert (tmp_path / source).exists(), source


@pytest.mark.slow
def test_the_commands_of_both_stages(tmp_path: Path) -> None:
    """In an empty environment for each stage, with what an engine would be sent."""
    context, wheels = tmp_path / "source", tmp_path / "wheels"
    context.mkdir()
    sent(context)
    last = STEPS.index(final_stage()[0])
    for name, steps in (("build", STEPS[:last]), ("final", STEPS[last:])):
        venv.create(tmp_path / name, with_pip=True, symlinks=True)
        path = f"{tmp_path / name / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        for line in (step for step in steps if step.startswith("RUN ") and "pip" in step):
            shell = re.sub(r"--mount=\S+", "", line.removeprefix("RUN "))
            shell = re.sub(r"&& useradd.*", "", shell).replace("/wheels", str(wheels))
            done = subprocess.run(
                ["sh", "-ec", shell], cwd=context, capture_output=True, text=True, check=False,
                env={**os.environ, "PATH": path, "VIRTUAL_ENV": str(tmp_path / name)},
            )  # fmt: skip
            assert done.returncode == 0, f"{shell}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    sieve = tmp_path / "final" / "bin" / "sieve"
    command = [str(sieve), "serve", "--port", "0", "--workers", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as server:
        try:
            assert server.stderr is not None
            line = server.stderr.readline()
            match = re.search(r"serving .* at (http://\S+)", line)
            assert match, line
            with urllib.request.urlopen(f"{match[1]}/ready", timeout=60) as answer:
                assert json.load(answer)["status"] == "ready"
        finally:
            server.terminate()


def test_what_the_build_needs_is_sent() -> None:
    rules = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert rules[0] == "*"
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = {"pyproject.toml", "src", "native", *re.findall(r'"(README\.md|LICENSE)"', project)}
    assert {f"!{name}" for name in needed} <= set(rules)
