"""What `import sieve` offers: documented in full, and its types known to type checkers."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sieve

SRC = Path(__file__).parents[1] / "src"


def public(kind: type) -> list[str]:
    """Methods and properties that a class defines itself, but for its dataclass's own."""
    members = [name for name in vars(kind) if not name.startswith("_")]
    return [
        name
        for name in members
        if isinstance(vars(kind)[name], property | classmethod | staticmethod)
        or inspect.isfunction(vars(kind)[name])
    ]


@pytest.mark.parametrize("name", [name for name in sieve.__all__ if name != "__version__"])
def test_public_names_are_documented(name: str) -> None:
    value = getattr(sieve, name)
    assert inspect.getdoc(value)
    if inspect.isclass(value):
        missing = [each for each in public(value) if not inspect.getdoc(getattr(value, each))]
        assert not missing


def test_the_public_names_are_what_dir_lists() -> None:
    assert set(sieve.__all__) <= set(dir(sieve))
    assert sorted(sieve.__all__) == list(sieve.__all__)
    assert all(getattr(sieve, name) is not None for name in sieve.__all__)


@pytest.mark.slow
def test_types_are_known() -> None:
    pytest.importorskip("pyright", reason="needs the extra release: make test-slow installs it")
    command = [sys.executable, "-m", "pyright", "--verifytypes", "sieve", "--ignoreexternal"]
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": beside, "PYTHONPATH": str(SRC)}  # src: installed editably
    done = subprocess.run(
        [*command, "--outputjson"], env=environment, capture_output=True, text=True
    )
    report = json.loads(done.stdout)
    assert report["typeCompleteness"]["completenessScore"] >= 0.98


def test_a_room_that_is_public_says_what_it_offers() -> None:
    import sieve.ray

    assert sieve.ray.__all__ == ["Translate"]
    assert all(inspect.getdoc(getattr(sieve.ray, name)) for name in sieve.ray.__all__)
    assert inspect.getdoc(sieve.ray.Translate.__call__)
