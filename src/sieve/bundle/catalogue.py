"""Built-in models: a name like `en-de` stands for a directory that came with the program.

They lie in `sieve/models` of an installed package or in `models` of a checkout; SIEVE_MODELS names
folders to look in first. A directory of one's own goes before a built-in model of its name.
"""

import os
from pathlib import Path

import sieve
from sieve.bundle.directory import CONFIG_FILE
from sieve.errors import ConfigError, ModelError

VARIABLE = "SIEVE_MODELS"


def find_model(model: str | Path) -> Path:
    """The directory of a model that is given by its directory or by its name.

    Args:
        model: A path, or the name of a built-in model.
    """
    path = Path(model)
    if path.exists() or len(path.parts) != 1:
        return path
    found = built_in()
    if path.name not in found:
        names = ", ".join(sorted(found)) or "none"
        raise ModelError(
            f"{model}: no such model directory, and no built-in model of that name (there: {names})"
        )
    return found[path.name]


def source_of(model: str | Path, output: Path | None) -> Path:
    """The directory of a model that a verb changes or writes anew; a built-in one is only read.

    Args:
        model: A path, or the name of a built-in model.
        output: Where the result goes; None for the model itself or a place beside it.
    """
    found = find_model(model)
    if found != Path(model) and output is None:
        raise ConfigError(f"{model}: a built-in model stays as it is; give --output DIR")
    return found


def built_in() -> dict[str, Path]:
    """Names and directories of the built-in models."""
    found: dict[str, Path] = {}
    for folder in _folders():
        if folder.is_dir():
            for path in sorted(folder.iterdir()):
                if (path / CONFIG_FILE).is_file():
                    found.setdefault(path.name, path)
    return found


def _folders() -> list[Path]:
    """Where models may lie, first choice first."""
    named = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    package = Path(sieve.__file__).parent
    checkout = [package.parents[1] / "models"] if package.parent.name == "src" else []
    return [*named, package / "models", *checkout]
