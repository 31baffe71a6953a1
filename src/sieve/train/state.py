"""A run on disk: its directory, checkpoints of the training state, and the list of the best.

    RUN/config.json                     the resolved configuration
    RUN/metrics.jsonl                   training and validation lines
    RUN/state/update-00001000/          progress.json, state.safetensors: weights and moments
    RUN/checkpoints/update-00001000/    the best by validation, complete model directories
    RUN/best -> checkpoints/…, RUN/model/   the best checkpoint; the final weights

Every name appears whole or not at all, and what it replaces goes afterwards: a run killed at any
moment finds its newest complete state again. Safetensors and JSON only.
"""

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor

from sieve.config import from_dict, to_dict
from sieve.errors import ConfigError, InputError, ModelError
from sieve.files import read_json, read_tensors, whole_directory, write_json, write_tensors
from sieve.processes.locks import FileLock

PROGRESS_FILE, TENSORS_FILE = "progress.json", "state.safetensors"
_UPDATE = re.compile(r"update-(\d{8,})")


@dataclass(frozen=True)
class Ranked:
    """A checkpoint in the list of the best; lower scores are better."""

    score: float
    update: int


@dataclass
class Progress:
    """Where a run stands; with the tensors it is all that a resumed run needs.

    There is no random state: every unit draws its dropout from a seed made of the run's seed and
    the unit's place in the plan.
    """

    update: int = 0
    epoch: int = 0
    epoch_update: int = 0
    tokens: int = 0
    """Target tokens trained on."""
    seconds: float = 0.0
    """Time spent since the first step, in all sessions."""
    warm_progress: float = 0.0
    """Share of the budget that was spent at the end of the warm-up."""
    spent: float = 0.0
    """Share of the budget that is spent: tells a later session that the budget changed."""
    metrics_bytes: int = 0
    """Length of metrics.jsonl; what a killed session wrote after it is cut off on resume."""
    validated: int = -1
    """The last update that was validated."""
    best: tuple[Ranked, ...] = ()


class RunDirectory:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file: Path = path / "config.json"
        self.metrics_file: Path = path / "metrics.jsonl"
        self.model: Path = path / "model"
        self._states = path / "state"
        self._checkpoints = path / "checkpoints"
        self._lock: FileLock | None = None

    def create(self) -> None:
        """Makes the directory and keeps others out of it, or says why it cannot."""
        try:
            for directory in (self.path, self._states, self._checkpoints):
                directory.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.path / ".lock")
        except BlockingIOError:
            raise InputError(
                f"{self.path}: another process trains here; wait for it or choose another --output"
            ) from None
        except OSError as error:
            raise InputError(
                f"{self.path}: cannot be written: {error.strerror}; choose another --output"
            ) from None

    def release(self) -> None:
        """Lets other processes train here."""
        if self._lock is not None:
            self._lock.release()

    def started(self) -> bool:
        """Whether a run lives here; a directory with other things in it is refused."""
        if self.config_file.is_file() and self._states.is_dir():
            return True
        if self.path.is_dir() and any(self.path.iterdir()):
            if {entry.name for entry in self.path.iterdir()} <= {"state", "checkpoints", ".lock"}:
                return False  # killed before its configuration was written
            raise InputError(f"{self.path}: is not empty and holds no run; choose another --output")
        return False

    def checkpoint(self, update: int) -> Path:
        """The model directory of a checkpoint."""
        return self._checkpoints / f"update-{update:08d}"

    def checkpoints(self) -> list[Path]:
        """The complete checkpoints, in the order of their updates."""
        return _numbered(self._checkpoints)

    def newest_state(self) -> Path | None:
        """The newest complete state."""
        states = _numbered(self._states)
        return states[-1] if states else None

    def write_state(self, progress: Progress, tensors: Mapping[str, Tensor]) -> Path:
        """Writes a state, then removes the older ones and the checkpoints not among the best."""
        target = self._states / f"update-{progress.update:08d}"
        if target.is_dir():  # the weights of an update are always the same
            write_json(target / PROGRESS_FILE, to_dict(progress))
        else:
            arrays = {name: _array(tensor) for name, tensor in tensors.items()}
            with whole_directory(target) as partial:
                write_tensors(partial / TENSORS_FILE, arrays)
                write_json(partial / PROGRESS_FILE, to_dict(progress))
        self.tidy(progress)
        return target

    def tidy(self, progress: Progress) -> None:
        """Removes what the current state does not need, and the scraps of killed sessions."""
        keep = {f"update-{progress.update:08d}"}
        _remove_others(self._states, keep)
        _remove_others(
            self._checkpoints, {f"update-{ranked.update:08d}" for ranked in progress.best}
        )
        if progress.best:
            self._point_to_best(self.checkpoint(progress.best[0].update))

    def read_progress(self, state: Path) -> Progress:
        """Reads where a state stands, without its tensors."""
        try:
            return from_dict(Progress, read_json(state / PROGRESS_FILE), "progress")
        except (ConfigError, TypeError) as error:
            raise ModelError(f"{state / PROGRESS_FILE}: damaged: {error}") from None

    def read_state(self, state: Path) -> tuple[Progress, dict[str, Tensor]]:
        """Reads a state back."""
        arrays = read_tensors(state / TENSORS_FILE)
        progress = self.read_progress(state)
        if f"update-{progress.update:08d}" != state.name:
            raise ModelError(
                f"{state}: its progress says update {progress.update}; the state is damaged, "
                "remove it to resume from an older one"
            )
        return progress, {name: torch.from_numpy(array) for name, array in arrays.items()}

    def _point_to_best(self, checkpoint: Path) -> None:
        link, fresh = self.path / "best", self.path / ".best"
        fresh.unlink(missing_ok=True)
        try:
            fresh.symlink_to(os.path.relpath(checkpoint, self.path))
            fresh.replace(link)
        except OSError:  # a file system without links: the list in progress.json says it, too
            fresh.unlink(missing_ok=True)


def check_model_output(output: Path) -> None:
    """Refuses to replace a directory that is anything but a model."""
    if output.exists() and not (output / "model.safetensors").is_file():
        if output.is_dir() and not any(output.iterdir()):
            return
        raise InputError(
            f"{output}: exists and is no model directory; it is not replaced, "
            "choose another --output"
        )


def better(best: tuple[Ranked, ...], score: float, update: int, keep: int) -> tuple[Ranked, ...]:
    """The list of the best with a new checkpoint, if it belongs there; the earlier wins a tie."""
    ranked = sorted([*best, Ranked(score, update)], key=lambda r: (r.score, r.update))
    return tuple(ranked[:keep])


def _numbered(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    directories = [entry for entry in directory.iterdir() if _UPDATE.fullmatch(entry.name)]
    return sorted(directories, key=lambda entry: int(entry.name.partition("-")[2]))


def _remove_others(directory: Path, keep: set[str]) -> None:
    for entry in directory.iterdir():
        if entry.name not in keep:
            shutil.rmtree(entry, ignore_errors=True)


def _array(tensor: Tensor) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = tensor.detach().cpu().numpy()
    return array
