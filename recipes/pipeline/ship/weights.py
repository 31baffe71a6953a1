"""Weights in 16 bits, as a model directory or in pieces that a small transfer can carry.

PIECES gets config.json, the tokenizer's files and weights.000, weights.001, …: the bytes of
model.safetensors in float16, at most 15.7 MiB each, with their SHA-256 in weights.json. A model in
int8 stays in int8.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sieve.bundle.directory import open_bundle, write_bundle
from sieve.errors import InputError
from sieve.files import read_json, whole_directory

SIZE = 157 * 2**20 // 10  # four of them and the rest below 64 MiB
WEIGHTS = "model.safetensors"
NOTE = "weights.json"


def halve(model: Path, output: Path) -> None:
    """Writes the model directory in 16 bits."""
    bundle = open_bundle(model)
    tensors = bundle.tensors()
    for name, tensor in tensors.items() if not bundle.is_int8 else ():
        tensors[name] = tensor.astype(np.float16)
        if not np.isfinite(tensors[name]).all():
            raise InputError(f"{model}: {name} does not fit into float16")
    write_bundle(output, bundle.sections(), tensors, bundle.tokenizers())


def split(model: Path, pieces: Path, along: Mapping[str, Path] | None = None) -> None:
    """Writes the pieces of a model directory, and files that travel along: weights.NAME."""
    with whole_directory(pieces) as partial:
        halve(model, partial)
        data = (partial / WEIGHTS).read_bytes()
        (partial / WEIGHTS).unlink()
        names: list[str] = []
        for start in range(0, len(data), SIZE):
            names.append(f"weights.{len(names):03d}")
            (partial / names[-1]).write_bytes(data[start : start + SIZE])
        note = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "pieces": names}
        for name, path in (along or {}).items():
            shutil.copy(path, partial / f"weights.{name}")
        (partial / NOTE).write_text(json.dumps(note, indent=1) + "\n")


def join(pieces: Path, model: Path) -> None:
    """Makes the model directory again."""
    note = read_json(pieces / NOTE)
    data = b"".join((pieces / name).read_bytes() for name in note["pieces"])
    if hashlib.sha256(data).hexdigest() != note["sha256"]:
        raise InputError(
            f"{pieces}: a piece is damaged: the whole has another SHA-256; copy it again"
        )
    with whole_directory(model) as partial:
        for path in pieces.iterdir():
            if path.is_file() and not path.name.startswith("weights."):
                shutil.copy(path, partial)
        (partial / WEIGHTS).write_bytes(data)
