"""Virtual environments of the peers, made once with pip and kept in a folder for caches.

The folder is SIEVE_PEERS, else `sieve-peers` in XDG_CACHE_HOME, else `~/.cache/sieve-peers`.
What cannot be had is an `Unavailable` with the reason. Knows no model and no peer's API.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
_STAMP = "installed.txt"


class Unavailable(Exception):
    """A peer, a model or a Python that cannot be had here; says why."""


def peers_folder() -> Path:
    """Where environments, models and answers are kept."""
    named = os.environ.get("SIEVE_PEERS")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sieve-peers"


@dataclass(frozen=True)
class Environment:
    """What a peer needs installed."""

    name: str
    packages: tuple[str, ...]
    python: str | None = None
    """A version such as 3.10; None: the Python that runs the tests."""
    dependencies: bool = True

    def interpreter(self) -> Path:
        """The environment's Python; makes the environment if it is not there yet."""
        folder = peers_folder() / "environments" / self.name
        stamp, content = folder / _STAMP, "\n".join(self.packages) + "\n"
        python = folder / "bin" / "python"
        if not stamp.is_file() or stamp.read_text() != content:
            shutil.rmtree(folder, ignore_errors=True)
            _run([str(self._base()), "-m", "venv", str(folder)], f"{self.name}: venv")
            _run([str(python), *self._install()], f"{self.name}: pip install")
            stamp.write_text(content)
        return python

    def _base(self) -> Path:
        return Path(sys.executable) if self.python is None else other_python(self.python)

    def _install(self) -> list[str]:
        constraints = ["--constraint", str(ROOT / "constraints.txt")] if self.dependencies else []
        alone = [] if self.dependencies else ["--no-deps"]
        return ["-m", "pip", "install", "--quiet", *constraints, *alone, *self.packages]


class Ours(Environment):
    """The environment of this process."""

    def interpreter(self) -> Path:
        return Path(sys.executable)


SIEVE = Ours("sieve", ())
BERGAMOT = Environment("bergamot", ("bergamot==0.4.5",), "3.10", dependencies=False)
"""Its last wheel is for Python 3.10; its dependencies are for downloading models."""
MARIAN = Environment("marian", ("pymarian==1.12.42",))
FXTRANSLATE = Environment("fxtranslate", ("fxtranslate==0.5.0",))
HUGGING_FACE = Environment(
    "hugging-face",
    ("transformers==4.57.6", "ctranslate2==4.8.0", "torch", "sentencepiece", "sacremoses"),
)
"""CTranslate2 is here too: its converter needs transformers."""


def other_python(version: str) -> Path:
    """A Python of this version: on the path, or one of pyenv's."""
    on_path = shutil.which(f"python{version}")
    if on_path and _works(Path(on_path)):
        return Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for folder in sorted(pyenv.glob(f"{version}.*"), reverse=True):
        if _works(folder / "bin" / "python"):
            return folder / "bin" / "python"
    raise Unavailable(f"no Python {version}, neither on the path nor in {pyenv}")


def _works(python: Path) -> bool:
    """Whether it starts: pyenv's shims are there for versions that are not."""
    return (
        python.exists() and not subprocess.run([python, "-c", ""], capture_output=True).returncode
    )


def _run(command: list[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise Unavailable(f"{what} failed: {lines[-1] if lines else done.returncode}")
