"""One engine in a process of its own: reads requests as lines of JSON, answers likewise.

    python benchmarks/cpu_worker.py ENGINE CORES

Started by cpu_process.Worker. The cores are set before anything heavy is imported, so that every
thread of an engine inherits them. What a library prints goes to stderr.
"""

import gc
import importlib
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from cpu_common import SIZES


class Worker:
    """Answers requests; a request's `do` names the method."""

    def __init__(self, engine: str) -> None:
        self.module = importlib.import_module(f"cpu_{engine}")
        self.subject: Any = None

    def prepare(self, directory: str, size: str, set_size: int) -> Any:
        """Makes the engine's model files."""
        return self.module.prepare(Path(directory), SIZES[size], set_size)

    def load(self, directory: str, size: str, selection: str, settings: dict[str, Any]) -> Any:
        """Opens the model; memory before and after in MB."""
        begin = memory("VmRSS")
        self.subject = self.module.Subject(Path(directory), SIZES[size], selection, settings)
        gc.collect()
        gc.disable()
        return {"before_mb": begin, "loaded_mb": memory("VmRSS"), **self.subject.facts()}

    def block(self, sentences: list[list[int]]) -> Any:
        """Translates sentences one at a time; each answer has the engine's own seconds."""
        return [self.subject.translate(ids) for ids in sentences]

    def peak(self) -> float:
        """Most memory so far, in MB."""
        return memory("VmHWM")

    def answer(self, request: dict[str, Any]) -> Any:
        """One request; what the worker itself does not know goes to the subject."""
        name = request.pop("do")
        known = self if name in ("prepare", "load", "block", "peak") else self.subject
        return getattr(known, name)(**request)


def memory(field: str) -> float:
    """VmHWM or VmRSS of this process in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return round(int(line.split()[1]) / 1024, 1)
    return 0.0


def main() -> None:
    engine, cores = sys.argv[1:]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core) for core in cores.split(",")})
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    worker = Worker(engine)
    for line in sys.stdin:
        try:
            reply = {"value": worker.answer(json.loads(line))}
        except Exception as error:
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    main()
