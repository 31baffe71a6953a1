"""Numbers that tests measure beside peers, kept in the file that SIEVE_PEERS_RESULTS names."""

import json
import os
from pathlib import Path
from typing import Protocol

from oracles.real_models import SENTENCES
from sieve.files import write_json

VARIABLE = "SIEVE_PEERS_RESULTS"


class Note(Protocol):
    """Keeps numbers by their names."""

    def __call__(self, **numbers: float) -> None: ...


def keep(test: str, **numbers: float) -> None:
    """Adds numbers to those that this and other tests and runs have noted."""
    if VARIABLE not in os.environ:
        return
    path = Path(os.environ[VARIABLE])
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"tests": {}}
    kept["tests"].setdefault(test, {}).update({k: round(v, 7) for k, v in numbers.items()})
    command = f"{VARIABLE}={path.name} make test-peers"
    write_json(path, {"command": command, "sentences": SENTENCES, "tests": kept["tests"]})
