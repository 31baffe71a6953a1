"""A model directory in 16 bits, cut into pieces that a small transfer can carry, and back.

    python recipes/common/pieces.py split MODEL PIECES
    python recipes/common/pieces.py join PIECES MODEL

PIECES gets config.json, the tokenizer's files and weights.000, weights.001, ...: the bytes of
model.safetensors in float16, at most 15.7 MiB each, with their SHA-256 in weights.json. A model
in int8 stays in int8.
"""

import hashlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np

from sieve.bundle.directory import open_bundle, write_bundle

SIZE = 157 * 2**20 // 10  # four of them and the rest below 64 MiB
WEIGHTS = "model.safetensors"
NOTE = "weights.json"


def split(model: Path, pieces: Path) -> None:
    """Writes the pieces of a model directory."""
    bundle = open_bundle(model)
    tensors = bundle.tensors()
    for name, tensor in tensors.items() if not bundle.is_int8 else ():
        tensors[name] = tensor.astype(np.float16)
        if not np.isfinite(tensors[name]).all():
            raise SystemExit(f"{model}: {name} does not fit into float16")
    write_bundle(pieces, bundle.sections(), tensors, bundle.tokenizers())
    data = (pieces / WEIGHTS).read_bytes()
    (pieces / WEIGHTS).unlink()
    names: list[str] = []
    for start in range(0, len(data), SIZE):
        names.append(f"weights.{len(names):03d}")
        (pieces / names[-1]).write_bytes(data[start : start + SIZE])
    note = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "pieces": names}
    (pieces / NOTE).write_text(json.dumps(note, indent=1) + "\n")
    print(f"{len(data) / 2**20:.1f} MiB in {len(names)} pieces")


def join(pieces: Path, model: Path) -> None:
    """Makes the model directory again."""
    note = json.loads((pieces / NOTE).read_text())
    data = b"".join((pieces / name).read_bytes() for name in note["pieces"])
    if hashlib.sha256(data).hexdigest() != note["sha256"]:
        raise SystemExit(f"{pieces}: a piece is damaged: the whole has another SHA-256")
    model.mkdir(parents=True)
    for path in pieces.iterdir():
        if not path.name.startswith("weights."):
            shutil.copy(path, model)
    (model / WEIGHTS).write_bytes(data)


if __name__ == "__main__":
    {"split": split, "join": join}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
