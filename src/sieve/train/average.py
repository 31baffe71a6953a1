"""The mean of several checkpoints' weights, as one model directory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.bundle.directory import Bundle, open_bundle, write_bundle
from sieve.bundle.weights import float_tensors
from sieve.errors import InputError, ModelError
from sieve.log import logger
from sieve.train.state import RunDirectory, check_model_output

Arrays = dict[str, npt.NDArray[Any]]


def average(inputs: Sequence[Path], output: Path, best: int = 8) -> list[Path]:
    """Averages model directories, or the best checkpoints of runs, in float64.

    Args:
        inputs: Model directories and run directories.
        output: Model directory to write.
        best: At most so many checkpoints of each run, best first.

    Returns:
        The directories that were averaged.
    """
    check_model_output(output)
    directories = [directory for path in inputs for directory in _checkpoints(path, best)]
    bundles = [open_bundle(directory) for directory in directories]
    first = bundles[0]
    fingerprint = first.tokenizers().fingerprint
    sums: Arrays = {n: np.zeros(t.shape, np.float64) for n, t in float_tensors(first).items()}
    for bundle in bundles:
        if bundle.tokenizers().fingerprint != fingerprint:
            raise ModelError(
                f"{bundle.directory} has another vocabulary than {first.directory}; "
                "only checkpoints of one vocabulary can be averaged"
            )
        _add(sums, bundle, first)
    mean = {name: (total / len(bundles)).astype(np.float32) for name, total in sums.items()}
    config = first.sections("weights")
    training = dict(config.get("training", {}))
    training["averaged"] = [bundle.directory.name for bundle in bundles]
    write_bundle(output, {**config, "training": training}, mean, first.tokenizers())
    logger.info("averaged %d checkpoints into %s", len(bundles), output)
    return directories


def _add(sums: Arrays, bundle: Bundle, first: Bundle) -> None:
    tensors = float_tensors(bundle)
    different = sums.keys() ^ tensors.keys()
    if different:
        raise ModelError(
            f"{bundle.directory} and {first.directory} differ in tensor {sorted(different)[0]}; "
            "only checkpoints of one model can be averaged"
        )
    for name, total in sums.items():
        if tensors[name].shape != total.shape:
            raise ModelError(
                f"{bundle.directory}: tensor {name} has shape {tensors[name].shape}, in "
                f"{first.directory} it has {total.shape}; only one shape can be averaged"
            )
        total += tensors[name]


def _checkpoints(path: Path, best: int) -> list[Path]:
    """The path itself if it is a model directory, else the best checkpoints of the run."""
    if not path.is_dir():
        raise InputError(f"{path}: no such run or model directory")
    if (path / "model.safetensors").is_file():
        return [path]
    run = RunDirectory(path)
    checkpoints = run.checkpoints()
    if not checkpoints:
        raise InputError(
            f"{path}: has no checkpoints to average; a run keeps them when it validates "
            "(sieve train --valid SRC TGT)"
        )
    state = run.newest_state()
    if state is None:
        return checkpoints[-best:]
    ranked = [run.checkpoint(entry.update) for entry in run.read_progress(state).best]
    return [directory for directory in ranked if directory in checkpoints][:best] or checkpoints[
        -best:
    ]
