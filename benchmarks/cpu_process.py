"""The parent's side: the peers' virtual environment, workers, and model files made once."""

import contextlib
import json
import os
import subprocess
import sys
import time
import venv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cpu_common import SIZES, note

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benchmarks" / "cpu_peers.txt"
CONSTRAINTS = ROOT / "constraints.txt"
VENV = ROOT / ".bench-venv"
MODELS = ROOT / "build" / "bench"
VERSION = "1"
"""Counts up when model files of an older form must be made anew."""
OURS = ("sieve", "floor")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


class WorkerError(Exception):
    """A worker died, or could not do what it was asked."""


class Worker:
    """A process with one engine in it, on given cores."""

    def __init__(
        self, engine: str, cores: Iterable[int], environment: dict[str, str] | None = None
    ) -> None:
        self.engine = engine
        script = str(ROOT / "benchmarks" / "cpu_worker.py")
        self._log = MODELS / "logs" / f"{engine}-{os.getpid()}-{time.monotonic_ns()}.log"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [_python(engine), script, engine, ",".join(map(str, cores))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **ONE_THREAD, **_path(engine), **(environment or {})},
                text=True,
            )

    def ask(self, do: str, **request: Any) -> Any:
        """Sends one request and waits for what comes back."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps({"do": do, **request}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise WorkerError(f"{self.engine}: the worker ended at '{do}': {self._last_words()}")
        reply = json.loads(line)
        if "error" in reply:
            raise WorkerError(f"{self.engine}: {reply['error']}")
        return reply["value"]

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        if self._process.returncode == 0:
            self._log.unlink(missing_ok=True)

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self._process.poll()}"


def install_peers() -> None:
    """Makes the peers' virtual environment, or brings it up to the pinned versions."""
    wanted = PEERS.read_text() + CONSTRAINTS.read_text()
    stamp = VENV / ".installed"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    note(f"installing the peers into {VENV.name} (once)")
    if not (VENV / "bin" / "python").exists():
        venv.create(VENV, with_pip=True)
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    done = subprocess.run(
        [*pip, "--constraint", str(CONSTRAINTS), "--requirement", str(PEERS)],
        stdout=sys.stderr,
        check=False,
    )
    if done.returncode:
        sys.exit(f"the peers could not be installed: pip ended with code {done.returncode}")
    stamp.write_text(wanted)


def model_directory(engine: str, size: str, set_size: int) -> Path:
    """Where an engine's model files of this size are."""
    return MODELS / f"{size}-{engine}-{set_size}-v{VERSION}"


def prepared(engine: str, size: str, set_size: int) -> Path:
    """The engine's model files, made in a process of their own where they do not exist."""
    directory = model_directory(engine, size, set_size)
    stamp = directory / ".complete"
    if not stamp.exists():
        note(f"{SIZES[size].label}: making random weights for {engine}")
        directory.mkdir(parents=True, exist_ok=True)
        with Worker(engine, os.sched_getaffinity(0)) as worker:
            worker.ask("prepare", directory=str(directory), size=size, set_size=set_size)
        stamp.touch()
    return directory


def _python(engine: str) -> str:
    """Sieve runs in the environment of this process, the peers in theirs."""
    return sys.executable if engine in OURS else str(VENV / "bin" / "python")


def _path(engine: str) -> dict[str, str]:
    """The peers' environment has no Sieve installed, and torch runs our model."""
    return {} if engine in OURS else {"PYTHONPATH": str(ROOT / "src")}
