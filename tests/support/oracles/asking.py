"""Talks to the programs that run the peers, a process each: JSON lines there and back."""

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
    """What a peer makes of lines; asked once and kept, as the peer is slow and does not change.

    A run that was ended goes on where it was.
    """
    kept = peers_folder() / "answers" / f"{peer.program}-{_key(peer, lines)}.json"
    if kept.is_file():
        stored: list[Answer] = json.loads(kept.read_text(encoding="utf-8"))
        return stored
    part = kept.with_suffix(".part")
    rows = _begun(part)
    order = sorted(set(range(len(lines))) - rows.keys(), key=lambda row: len(lines[row]))
    part.parent.mkdir(parents=True, exist_ok=True)
    with Oracle(peer) as oracle, part.open("a", encoding="utf-8") as log:
        for begin in range(0, len(order), BATCH):
            batch = order[begin : begin + BATCH]
            written = oracle.ask([lines[row] for row in batch])[0]
            rows.update(zip(batch, written, strict=True))
            log.write(json.dumps([batch, written], ensure_ascii=False) + "\n")
            log.flush()
    complete = [rows[row] for row in range(len(lines))]
    whole = part.with_suffix(".whole")
    whole.write_text(json.dumps(complete, ensure_ascii=False), encoding="utf-8")
    whole.replace(kept)
    part.unlink()
    return complete


def _begun(part: Path) -> dict[int, Answer]:
    """Answers by line that a run which was ended left behind; its last line may be torn."""
    rows: dict[int, Answer] = {}
    for line in part.read_text(encoding="utf-8").splitlines() if part.is_file() else ():
        with suppress(ValueError):
            rows.update(zip(*json.loads(line), strict=True))
    return rows


def _key(peer: Peer, lines: Sequence[str]) -> str:
    """Changes with the program, the packages, the settings, the model's files and the lines."""
    digest = hashlib.sha256((PROGRAMS / f"{peer.program}.py").read_bytes())
    model = sorted(Path(peer.settings["model"]).iterdir())
    files = [(path.name, path.stat().st_size) for path in model]
    said = [peer.environment.packages, dict(peer.settings), files, list(lines)]
    digest.update(json.dumps(said).encode())
    return digest.hexdigest()[:16]
