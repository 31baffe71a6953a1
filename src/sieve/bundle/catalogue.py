"""The models that are here: built-in ones, whose names stand for their directories, and others.

Built-in ones lie in `sieve/models` of an installed package or in `models` of a checkout;
SIEVE_MODELS names folders to look in first. A directory of one's own goes before a built-in model
of its name.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sieve
from sieve.bundle.directory import CONFIG_FILE, LEXICON_FILE, WEIGHTS_FILE
from sieve.errors import ModelError
from sieve.files import read_json

VARIABLE = "SIEVE_MODELS"
_RUN_METRICS, _RUN_MODEL = "metrics.jsonl", "model"  # of a run of `sieve train`
OWN_LICENCE = "own terms, in models/LICENSE; texts it learnt from: models/NOTICE"


@dataclass(frozen=True)
class Entry:
    """What the catalogue says of a model."""

    name: str
    directory: Path
    kind: str
    """`built-in`, `imported` or `local`."""
    languages: tuple[str, ...]
    bytes: int
    """Of the whole directory."""
    weights: str
    """int8, float16 or float32."""
    selection: tuple[str, ...]
    """What it can select tokens with: `nvs`, `lexicon`."""
    licence: str
    origin: Mapping[str, Any]
    """Of an imported model: family, source, files with their hashes."""


def _of_run(run: Path) -> Path:
    if not (run / _RUN_MODEL).is_dir():
        raise ModelError(
            f"{run}: the run has no model yet; sieve train --output {run} resumes it, "
            f"sieve average {run} makes a model of its checkpoints"
        )
    return run / _RUN_MODEL


def find_model(model: str | Path) -> Path:
    """The directory of a model that is given by its directory or by its name.

    Args:
        model: A path, also of a run of `sieve train`, or the name of a built-in model.
    """
    path = Path(model)
    if (path / _RUN_METRICS).is_file() and not (path / WEIGHTS_FILE).is_file():
        return _of_run(path)
    if path.exists() or len(path.parts) != 1:
        return path
    models = built_in()
    if path.name not in models:
        names = ", ".join(sorted(models)) or "none"
        raise ModelError(
            f"{model}: no such model directory, and no built-in model of that name (there: {names})"
        )
    return models[path.name]


def built_in() -> dict[str, Path]:
    """Names and directories of the built-in models."""
    models: dict[str, Path] = {}
    for folder in _folders():
        if folder.is_dir():
            for path in sorted(folder.iterdir()):
                if (path / CONFIG_FILE).is_file():
                    models.setdefault(path.name, path)
    return models


def _folders() -> list[Path]:
    """Where models may lie, first choice first."""
    named = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    package = Path(sieve.__file__).parent
    checkout = [package.parents[1] / "models"] if package.parent.name == "src" else []
    return [*named, package / "models", *checkout]


def catalogue(imported: Path | None = None, local: tuple[Path, ...] = ()) -> list[Entry]:
    """All models that are here: built-in, imported, then those of other folders.

    Args:
        imported: The folder that keeps imported models.
        local: Model directories, or folders of some.
    """
    entries = [_entry(name, path, "built-in") for name, path in sorted(built_in().items())]
    for folder in filter(None, (imported, *local)):
        kind = "imported" if folder == imported else "local"
        entries += [_entry(path.name, path, kind) for path in _directories(folder)]
    return entries


def is_own(directory: Path) -> bool:
    """Whether a directory is one of ours, whole or not; other toolkits have a config.json, too."""
    path = directory / CONFIG_FILE
    try:
        return path.is_file() and not {"format_version", "model"}.isdisjoint(read_json(path))
    except ModelError:  # said again when it is opened
        return True


def _directories(folder: Path) -> list[Path]:
    """The folder itself where it is a model, else the models in it."""
    if is_own(folder):
        return [folder]
    inner = sorted(folder.iterdir()) if folder.is_dir() else []
    return [path for path in inner if is_own(path) and not path.name.startswith(".")]


def _entry(name: str, directory: Path, kind: str) -> Entry:
    """What a model's own configuration says; a damaged one is a ModelError."""
    config = read_json(directory / CONFIG_FILE)
    sections = {key: config.get(key) for key in ("model", "weights", "origin")}
    model, weights, origin = (v if isinstance(v, dict) else {} for v in sections.values())
    languages = config.get("languages")
    ways = {"nvs": model.get("nvs_head", "tied") != "none"}
    ways["lexicon"] = (directory / LEXICON_FILE).is_file()
    unstated = OWN_LICENCE if kind == "built-in" else "not stated"
    return Entry(
        name=name,
        directory=directory,
        kind=kind,
        languages=tuple(map(str, languages)) if isinstance(languages, list) else (),
        bytes=sum(path.stat().st_size for path in directory.iterdir() if path.is_file()),
        weights=str(weights.get("format", "float32")),
        selection=tuple(way for way, there in ways.items() if there),
        licence=str(origin.get("licence", unstated)),
        origin=origin,
    )
