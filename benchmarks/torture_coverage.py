"""Every reader of foreign bytes under a fuzzer that follows branches: importers and documents.

A reader has ten minutes, or SIEVE_FUZZ_SECONDS. What is compressed or packed is packed around the
fuzzed bytes, which would never get that far alone. A copying translator stands behind the
documents: what they read they also write.
"""

import contextlib
import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests" / "support")]

from torture_documents import GOOD, packed  # noqa: E402 (its folder is known now)

SECONDS = int(os.environ.get("SIEVE_FUZZ_SECONDS", "600"))
"""For each reader."""
HANG = 60
"""Seconds that one input may take."""
WORDS = 40
"""Tokens of a small foreign model."""
Read = Callable[[bytes, Path], object]
"""Reads bytes; the folder is for what wants a file."""


def _document(form: str, data: bytes, folder: Path) -> object:
    from sieve.documents import translate_bytes

    return translate_bytes(_copier(), packed(form, data), format=form)


def _archive(data: bytes, folder: Path) -> object:
    from sieve.documents import translate_bytes

    return translate_bytes(_copier(), data, format="docx")


@cache
def _copier() -> Any:
    from echo import echo

    return echo(backwards=True, languages=("en", "de"))


def _tensors(data: bytes, folder: Path) -> object:
    import numpy as np

    from sieve.files.tensor_files import parse_tensors

    return parse_tensors(np.frombuffer(data, np.uint8), Path("fuzzed"))


def _marian_binary(data: bytes, folder: Path) -> object:
    from sieve.importers.marian.marian_binary import read_marian_binary

    return read_marian_binary(data, "fuzzed")


def _marian_npz(data: bytes, folder: Path) -> object:
    from packages import package

    from sieve.importers.marian.marian_npz import read_marian_npz

    path = folder / "model.npz"
    path.write_bytes(package({"special:model.yml.npy": data}))
    return read_marian_npz(path)


def _marian_shortlist(data: bytes, folder: Path) -> object:
    from sieve.importers.marian.marian_shortlist import checksum, read_marian_shortlist

    right = checksum(data[16:]).to_bytes(8, "little")
    return read_marian_shortlist(data[:8] + right + data[16:], (WORDS, WORDS), "fuzzed")


def _yaml_settings(data: bytes, folder: Path) -> object:
    from sieve.importers.marian.flat_yaml import flat_yaml

    return flat_yaml(data.decode("utf-8", "replace"), "fuzzed")


def _hugging_face(member: str, data: bytes, folder: Path) -> object:
    from sieve.importers.importing import ImportOptions, import_model
    from sieve.importers.origin import Origin

    source = _opus(folder)
    before = (source / member).read_bytes()
    (source / member).write_bytes(data)
    try:
        import_model(Origin(source), folder / "made", ImportOptions(languages=("en", "fr")))
    finally:
        (source / member).write_bytes(before)
    return None


@cache
def _opus(folder: Path) -> Path:
    from marian_files import opus_directory

    return opus_directory(folder / "opus")


def _config(data: bytes, folder: Path) -> object:
    import sieve

    (_own(folder) / "config.json").write_bytes(data)
    return sieve.load(_own(folder), threads=1)


@cache
def _own(folder: Path) -> Path:
    return shutil.copytree(OWN, folder / "own", dirs_exist_ok=True)


OWN = ROOT / "tests" / "bundle" / "written_by_0_1" / "int8"
"""A small model directory without a manifest."""
OPUS = {
    "opus-config": "config.json",
    "opus-vocabulary": "vocab.json",
    "opus-pieces": "source.spm",
    "opus-weights": "model.safetensors",
}
READERS: dict[str, Read] = {
    "tensors": _tensors,
    "config": _config,
    "marian-binary": _marian_binary,
    "marian-npz": _marian_npz,
    "marian-shortlist": _marian_shortlist,
    "marian-settings": _yaml_settings,
    **{name: partial(_hugging_face, member) for name, member in OPUS.items()},
    "any archive": _archive,
    **{form: partial(_document, form) for form in GOOD},
}


def seeds(folder: Path) -> dict[str, bytes]:
    """A small good input for each reader: a fuzzer would not find the way into most of them."""
    import numpy as np
    from marian_files import SETTINGS, marian_binary, parameters, shortlist, yaml_of
    from safetensors.numpy import save

    settings, array = yaml_of(SETTINGS).encode(), BytesIO()
    np.save(array, np.frombuffer(settings, np.int8))
    opus = {name: _opus(folder) / member for name, member in OPUS.items()}
    return {
        **GOOD,
        **{name: path.read_bytes() for name, path in opus.items()},
        "tensors": save({"a": np.ones((2, 3), np.float32)}),
        "config": (OWN / "config.json").read_bytes(),
        "marian-binary": marian_binary(SETTINGS, parameters(SETTINGS, WORDS)),
        "marian-npz": array.getvalue(),
        "marian-shortlist": shortlist([[], [], *([n - 1, n] for n in range(2, WORDS))]),
        "marian-settings": settings,
        "any archive": packed("docx", GOOD["docx"]),
    }


def cases(first: int, scratch: Path) -> Iterator[str]:
    """See `torture.Cases`: one for each reader."""
    if importlib.util.find_spec("atheris") is None:
        yield "skipped: atheris is not installed (pip install atheris)"
        return
    for name in list(READERS)[first:]:
        yield _fuzzed(name, scratch)


def _fuzzed(name: str, scratch: Path) -> str:
    folder = (scratch / name).resolve()
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    good = GOOD[name] if name in GOOD else seeds(folder)[name]
    (folder / "corpus" / "good").write_bytes(good)
    options = [f"-max_total_time={SECONDS}", f"-timeout={HANG}", "-rss_limit_mb=4096"]
    command = [sys.executable, __file__, name, str(folder / "corpus"), *options]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
    )
    runs = re.search(r"Done (\d+) runs in (\d+) second", done.stderr)
    if done.returncode or runs is None:
        return f"FAIL {name}: {done.stderr[-280:]!r}"
    return f"{name}, {int(runs[1])} inputs in {int(runs[2])} s"


def _fuzz(name: str) -> None:
    atheris = importlib.import_module("atheris")
    from sieve.errors import SieveError

    rooms = ("bundle", "documents", "files", "importers")
    with atheris.instrument_imports(include=[f"sieve.{room}" for room in rooms]):
        for module in (
            "bundle.directory",
            "files.tensor_files",
            "importers.importing",
            "documents",
        ):
            importlib.import_module(f"sieve.{module}")
    read, folder = READERS[name], Path.cwd()

    def once(data: bytes) -> None:
        with contextlib.suppress(SieveError):
            read(data, folder)

    atheris.Setup([sys.argv[0], *sys.argv[2:]], once)
    atheris.Fuzz()


if __name__ == "__main__":
    _fuzz(sys.argv[1])
