"""Python code in a process of its own: a crash is seen, a signal hits nobody else."""

import os
import subprocess
import sys
from pathlib import Path

PATIENCE = 300
"""Seconds after which a child hangs, on however busy a machine."""


def run_python(
    code: str, *arguments: str, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs code; helpers for tests can be imported in it."""
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        env={**environment, **(variables or {})},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def printed(code: str, *arguments: str, variables: dict[str, str] | None = None) -> str:
    """What code prints; it must end well."""
    done = run_python(code, *arguments, variables=variables)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-3000:]}"
    return done.stdout.strip()
