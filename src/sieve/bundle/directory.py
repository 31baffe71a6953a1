"""The model directory: config.json, model.safetensors, tokenizer files, and optional files.

One directory is one artefact for training, GPU and CPU. numpy only; knows no torch and does no
arithmetic. Writing is all or nothing: a directory appears complete under its name or not at all.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from sieve.bundle.integrity import CARD_FILE, recorded, seal
from sieve.bundle.quantization import LAYOUT
from sieve.errors import ModelError
from sieve.files import (
    Folder,
    Tensors,
    copy_file,
    whole_directory,
    write_json,
    write_tensors,
)
from sieve.tokenize.tokenizer import Tokenizers, load_tokenizers

FORMAT_VERSION = 1
CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
LEXICON_FILE = "lexicon.safetensors"
NAMES_FILE = "names.safetensors"
_OPTIONAL = (LEXICON_FILE, NAMES_FILE, CARD_FILE)


@dataclass(frozen=True)
class Bundle:
    """A model directory that was opened: its configuration, and what its files must hold."""

    folder: Folder
    config: Mapping[str, Any]
    """Sections as written: `format_version`, `model`, `languages`, `selection`, `weights`, …"""

    @property
    def directory(self) -> Path:
        """Where it lies."""
        return self.folder.path

    @property
    def is_int8(self) -> bool:
        """Whether the tensors have the int8 form (sieve.bundle.quantization)."""
        return "weights" in self.config and self.config["weights"]["format"] == "int8"

    def sections(self, *without: str) -> dict[str, Any]:
        """The configuration for another directory, without the named sections."""
        dropped = ("format_version", *without)
        return {key: value for key, value in self.config.items() if key not in dropped}

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """Reads every tensor of model.safetensors as it is stored, into memory of our own."""
        return self.folder.tensors(WEIGHTS_FILE).tensors

    def optional_files(self) -> list[Path]:
        """Those there are of lexicon, names and card: what another form of the model keeps."""
        names = [name for name in _OPTIONAL if self.folder.has(name)]
        return [self.folder.checked(name) for name in names]

    def tokenizers(self) -> Tokenizers:
        """The tokenizers of the two sides."""
        return load_tokenizers(self.folder)


def open_bundle(directory: str | Path, verify: bool = True) -> Bundle:
    """Opens a model directory and checks that it is one this version can read.

    Args:
        directory: Where the model is.
        verify: Whether every file that is read must have the SHA-256 that was recorded for it.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise ModelError(f"{directory}: no such model directory")
    for name in (CONFIG_FILE, WEIGHTS_FILE):
        if not (directory / name).is_file():
            raise ModelError(f"{directory}: not a model directory: it has no {name}")
    return bundle_of(Folder(directory, recorded(directory) if verify else {}))


def bundle_of(folder: Folder) -> Bundle:
    """The model directory that a folder is, wherever its files lie."""
    path = folder.path / CONFIG_FILE
    config = folder.json(CONFIG_FILE)
    version = config.get("format_version")
    if version != FORMAT_VERSION:
        raise ModelError(
            f"{path}: got format_version {version!r}, this version of Sieve reads {FORMAT_VERSION}"
        )
    _check_weights(config.get("weights", {"format": "float32"}), path)
    return Bundle(folder, config)


def write_bundle(
    directory: str | Path,
    config: Mapping[str, Any],
    tensors: Tensors,
    tokenizers: Tokenizers,
    copies: Iterable[Path] = (),
) -> None:
    """Writes a complete model directory; replaces an older one only once the new one is whole.

    Args:
        directory: Where.
        config: Sections of config.json.
        tensors: The weights, in the form that the section `weights` names.
        tokenizers: Of the two sides.
        copies: Further files to put into it under their names.
    """
    with whole_directory(Path(directory)) as partial:
        write_json(partial / CONFIG_FILE, {"format_version": FORMAT_VERSION, **config})
        write_tensors(partial / WEIGHTS_FILE, tensors)
        tokenizers.save(partial)
        for path in copies:
            copy_file(path, partial / path.name)
        seal(partial)


def _check_weights(section: object, path: Path) -> None:
    """Refuses a form of weights that this version cannot read."""
    if not isinstance(section, dict):
        raise ModelError(f"{path}: got {section!r} for 'weights', expected a section")
    form, layout = section.get("format"), section.get("layout")
    if form not in ("int8", "float16", "float32"):
        raise ModelError(
            f"{path}: got weights.format {form!r}, this version of Sieve reads int8, float16 "
            "and float32"
        )
    if form == "int8" and layout != LAYOUT:
        raise ModelError(
            f"{path}: got weights.layout {layout!r}, this version of Sieve reads {LAYOUT}; "
            "convert the model again"
        )
