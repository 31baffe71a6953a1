"""The tests of the native core under the address and undefined-behaviour sanitizers."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def cases(first: int, scratch: Path) -> Iterator[str]:
    """See `torture.Cases`: a single one."""
    done = subprocess.run(
        ["make", "sanitize"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    yield "clean" if done.returncode == 0 else f"FAIL: {(done.stdout + done.stderr)[-250:]!r}"
