"""COMET from a checkpoint on this machine: nothing is ever fetched.

The library, and torch with it, are an extra. It unpickles the checkpoint: use one you trust.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sieve.errors import InputError, require
from sieve.evaluate.measure.quality import Score

BATCH = 16


class Comet:
    """A COMET model, loaded once for all systems."""

    def __init__(self, path: Path) -> None:
        self._file = checkpoint(path)
        library: Any = require("comet", "comet", "COMET")
        self._model = library.load_from_checkpoint(str(self._file))
        self.signature: str = f"comet:{_name(self._file)}|version:{_version(library)}"

    def score(
        self, sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[str]
    ) -> Score:
        """The system's score, as the library gives it."""
        rows = zip(sources, hypotheses, references, strict=True)
        data = [{"src": src, "mt": mt, "ref": ref} for src, mt, ref in rows]
        prediction = self._model.predict(data, batch_size=BATCH, gpus=0, progress_bar=False)
        return Score("COMET", float(prediction.system_score), self.signature)


def checkpoint(path: Path) -> Path:
    """The .ckpt file that a directory holds, or the file itself."""
    if path.is_file():
        return path
    checkpoints = sorted(path.rglob("*.ckpt")) if path.is_dir() else []
    if len(checkpoints) != 1:
        raise InputError(
            f"COMET: {path} holds {len(checkpoints)} .ckpt files, expected one: give the directory "
            "of a checkpoint that was downloaded before (nothing is fetched), or go without --comet"
        )
    return checkpoints[0]


def _name(file: Path) -> str:
    folder = file.parent.parent if file.parent.name == "checkpoints" else file.parent
    return folder.name


def _version(library: Any) -> str:
    return str(getattr(library, "__version__", "unknown"))
