"""What other programs look for: sanitizers in the core, and inputs that reach new code."""

import contextlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from sieve.errors import SieveError

ROOT = Path(__file__).parents[1]
SECONDS = 600
"""For each reader."""


def sanitizers(first: int, scratch: Path) -> Iterator[str]:
    """The tests of the core under the address and undefined-behaviour sanitizers."""
    done = subprocess.run(
        ["make", "sanitize"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    yield "clean" if done.returncode == 0 else f"FAIL: {(done.stdout + done.stderr)[-250:]!r}"


def coverage(first: int, scratch: Path) -> Iterator[str]:
    """Every reader of foreign bytes under a fuzzer that follows branches."""
    if importlib.util.find_spec("atheris") is None:
        yield "skipped: atheris is not installed (pip install atheris)"
        return
    for name in READERS:
        folder = scratch / name
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, __file__, name, str(folder), f"-max_total_time={SECONDS}"]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        failed = f"FAIL {name}: {done.stderr[-250:]!r}"
        yield f"{name} is clean" if done.returncode == 0 else failed


def _tensors(data: bytes) -> None:
    import numpy as np

    from sieve.files.tensor_files import parse_tensors

    parse_tensors(np.frombuffer(data, np.uint8), Path("fuzzed"))


def _marian(data: bytes) -> None:
    from sieve.importers.marian.marian_binary import read_marian_binary

    read_marian_binary(data, "fuzzed")


def _yaml(data: bytes) -> None:
    from sieve.importers.marian.flat_yaml import flat_yaml

    flat_yaml(data.decode("utf-8", "replace"), "fuzzed")


def _html(data: bytes) -> None:
    from sieve.documents import read_document

    read_document(data.decode("utf-8", "replace"), "html", len)


def _markdown(data: bytes) -> None:
    from sieve.documents import read_document

    read_document(data.decode("utf-8", "replace"), "markdown", len)


READERS: dict[str, Callable[[bytes], None]] = {
    "tensors": _tensors,
    "marian": _marian,
    "yaml": _yaml,
    "html": _html,
    "markdown": _markdown,
}


def _fuzz(name: str) -> None:
    atheris = importlib.import_module("atheris")
    read = READERS[name]

    def one(data: bytes) -> None:
        with contextlib.suppress(SieveError):
            read(data)

    with atheris.instrument_imports():
        for module in ("sieve.files.tensor_files", "sieve.importers.marian.marian_binary"):
            importlib.import_module(module)
        importlib.import_module("sieve.documents")
    atheris.Setup([sys.argv[0], *sys.argv[2:]], one)
    atheris.Fuzz()


if __name__ == "__main__":
    _fuzz(sys.argv[1])
