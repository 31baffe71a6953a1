"""Talks to the programs that run the peers, a process each: JSON lines there and back."""

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from oracles.environments import Environment, Unavailable, peers_folder

PROGRAMS = Path(__file__).parent / "programs"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
BATCH = 16
Answer = dict[str, Any]


@dataclass(frozen=True)
class Peer:
    """A program, the environment it runs in and what it is told at its start."""

    environment: Environment
    program: str
    settings: Mapping[str, Any]
    """With `scores`, the program also gives the log-probabilities of what it wrote."""


class Oracle:
    """A running program; it ends with the `with` block."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        script = str(PROGRAMS / f"{peer.program}.py")
        command = [str(peer.environment.interpreter()), script, json.dumps(dict(peer.settings))]
        self._log = tempfile.TemporaryFile(mode="w+", errors="replace")  # noqa: SIM115 (open as long as the process)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **ONE_THREAD},
            text=True,
        )

    def __enter__(self) -> "Oracle":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(60)
        self._log.close()

    @property
    def process(self) -> int:
        """The id of the process."""
        return self._process.pid

    def ask(self, lines: Sequence[str]) -> tuple[list[Answer], float]:
        """The answer for each line, and the seconds they took inside."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"lines": list(lines)}) + "\n")
            self._process.stdin.flush()
            reply = json.loads(self._process.stdout.readline() or "{}")
        except BrokenPipeError:
            reply = {}
        if "answers" not in reply:
            raise Unavailable(f"{self.peer.program}: {reply.get('error') or self._last_words()}")
        return reply["answers"], reply["seconds"]

    def _last_words(self) -> str:
        self._process.wait(60)
        self._log.seek(0)
        lines = self._log.read().strip().splitlines()
        return f"ended with {self._process.returncode}: {lines[-1] if lines else 'silently'}"


def answers(peer: Peer, lines: Sequence[str]) -> list[Answer]:
    """What a peer makes of lines; asked once and kept, as the peer is slow and does not change."""
    kept = peers_folder() / "answers" / f"{peer.program}-{_key(peer, lines)}.json"
    if kept.is_file():
        stored: list[Answer] = json.loads(kept.read_text(encoding="utf-8"))
        return stored
    order = sorted(range(len(lines)), key=lambda row: len(lines[row]))
    rows: dict[int, Answer] = {}
    with Oracle(peer) as oracle:
        for begin in range(0, len(order), BATCH):
            batch = order[begin : begin + BATCH]
            rows.update(zip(batch, oracle.ask([lines[row] for row in batch])[0], strict=True))
    complete = [rows[row] for row in range(len(lines))]
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(".part")
    part.write_text(json.dumps(complete, ensure_ascii=False), encoding="utf-8")
    part.replace(kept)
    return complete


def _key(peer: Peer, lines: Sequence[str]) -> str:
    """Changes with the program, the packages, the settings, the model's files and the lines."""
    digest = hashlib.sha256((PROGRAMS / f"{peer.program}.py").read_bytes())
    model = sorted(Path(peer.settings["model"]).iterdir())
    files = [(path.name, path.stat().st_size) for path in model]
    said = [peer.environment.packages, dict(peer.settings), files, list(lines)]
    digest.update(json.dumps(said).encode())
    return digest.hexdigest()[:16]
