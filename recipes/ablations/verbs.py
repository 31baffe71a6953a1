"""What the scripts of this folder share: verbs of `sieve` as steps that are done once."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def sieve(*arguments: object) -> None:
    """Runs a verb in a process of its own; what it refuses ends the script."""
    words = [str(argument) for argument in arguments]
    print("sieve", *words, flush=True)
    done = subprocess.run([sys.executable, "-m", "sieve.cli", *words], check=False)
    if done.returncode:
        raise SystemExit(done.returncode)


def once(made: Path, *arguments: object) -> Path:
    """Runs a verb unless what it makes is there: verbs write whole things or nothing."""
    if not made.exists():
        sieve(*arguments)
    return made


def command(argv: Sequence[str]) -> str:
    """How the script was called, from the repository's root."""
    script = Path(argv[0])
    return " ".join(["python", f"recipes/ablations/{script.name}", *argv[1:]])


def write(path: Path, content: Json) -> None:
    """The result, readable in a diff."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
