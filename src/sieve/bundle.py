"""The model directory: config.json, model.safetensors, tokenizer files, optional lexicon and card.

One directory is one artefact for training, GPU and CPU. numpy only; knows no torch and does no
arithmetic. Writing is all or nothing: a directory appears complete under its name or not at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from sieve.errors import ModelError
from sieve.files import (
    Tensors,
    read_json,
    read_tensors,
    whole_directory,
    write_json,
    write_tensors,
)
from sieve.text.tokenizer import Tokenizers, load_tokenizers

FORMAT_VERSION = 1
CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"


@dataclass(frozen=True)
class Bundle:
    """A model directory that was opened: its configuration, and where its tensors lie."""

    directory: Path
    config: Mapping[str, Any]
    """Sections as written: `format_version`, `model`, `languages`, `selection`, `training`, …"""

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """Reads every tensor of model.safetensors."""
        return read_tensors(self.directory / WEIGHTS_FILE)

    def tokenizers(self) -> Tokenizers:
        """The tokenizers of the two sides."""
        return load_tokenizers(self.directory)


def open_bundle(directory: str | Path) -> Bundle:
    """Opens a model directory and checks that it is one this version can read."""
    directory = Path(directory)
    path = directory / CONFIG_FILE
    if not directory.is_dir():
        raise ModelError(f"{directory}: no such model directory")
    for name in (CONFIG_FILE, WEIGHTS_FILE):
        if not (directory / name).is_file():
            raise ModelError(f"{directory}: not a model directory: it has no {name}")
    config = read_json(path)
    version = config.get("format_version")
    if version != FORMAT_VERSION:
        raise ModelError(
            f"{path}: got format_version {version!r}, this version of Sieve reads {FORMAT_VERSION}"
        )
    return Bundle(directory, config)


def write_bundle(
    directory: str | Path, config: Mapping[str, Any], tensors: Tensors, tokenizers: Tokenizers
) -> None:
    """Writes a complete model directory; replaces an older one only once the new one is whole."""
    with whole_directory(Path(directory)) as partial:
        write_json(partial / CONFIG_FILE, {"format_version": FORMAT_VERSION, **config})
        write_tensors(partial / WEIGHTS_FILE, tensors)
        tokenizers.save(partial)
