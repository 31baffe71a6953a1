"""Names of models on the Hugging Face hub: which strings are some, and the files behind them.

What the hub's own cache holds is used without a network; its variables (HF_HOME, HF_HUB_OFFLINE)
count as everywhere.
"""

import re
from pathlib import Path

from sieve.errors import InputError, require
from sieve.importers.origin import Origin

_NAME = re.compile(r"[\w-][\w.-]{0,95}/[\w-][\w.-]{0,95}")
_WAIT = 20
"""Seconds until a hub that does not answer is given up."""
_FILES = [
    "*.json",
    "*.spm",
    "*.safetensors",
    "*.bin",
    "*.npz",
    "*.yml",
    "*.gz",
    "*.zst",
    "README.md",
]


def is_hub_name(name: str) -> bool:
    """Whether this could be `owner/model`."""
    return _NAME.fullmatch(name) is not None and not name.startswith(("./", "../"))


def from_hub(name: str) -> Origin:
    """The files of a hub's model, downloaded if its cache lacks them."""
    hub = require("huggingface_hub", "hub", f"'{name}' is no path here; reading it from the hub")
    try:
        folder = Path(hub.snapshot_download(name, allow_patterns=_FILES, local_files_only=True))
        if not _is_complete(folder):
            raise FileNotFoundError(name)
    except Exception:  # not in the cache, or only part of it
        folder = _downloaded(hub, name)
    return Origin(folder, name)


def _downloaded(hub, name: str) -> Path:  # type: ignore[no-untyped-def]
    """The folder of a model that the hub gives; one line where it does not."""
    # of weights that are there twice, the ones that need no torch
    try:
        told = hub.HfApi().model_info(
            name, timeout=_WAIT
        )  # listing files would try again and again
        files = [sibling.rfilename for sibling in told.siblings or ()]
        ignored = ["*.bin"] if "model.safetensors" in files else []
        ignored += ["tf_model*", "rust_model*", "flax_model*"]
        return Path(hub.snapshot_download(name, allow_patterns=_FILES, ignore_patterns=ignored))
    except Exception as error:
        line = " ".join(str(error).split())[:240]
        raise InputError(
            f"{name}: no such model directory, not in the hub's cache, and the hub cannot give it: "
            f"{line or type(error).__name__}"
        ) from None


def _is_complete(folder: Path) -> bool:
    """Whether weights are there, and not only what a tokenizer needs."""
    return any(any(folder.glob(f"*.{ending}")) for ending in ("safetensors", "bin", "npz"))
