"""What a user may write where a model is expected.

A directory of ours, the name of a built-in model or of an imported one that was kept, or another
toolkit's model as a path or as a name on the hub.
"""

from pathlib import Path

from sieve.bundle.catalogue import built_in, find_model, is_own
from sieve.bundle.directory import CONFIG_FILE
from sieve.errors import ConfigError, InputError, ModelError
from sieve.importers.origin import Origin


def model_directory(model: str | Path) -> Path:
    """The model directory that is meant; another toolkit's model is converted once and kept."""
    path = Path(model)
    if (path.is_dir() and is_own(path)) or (not path.exists() and path.name in built_in()):
        return find_model(model)
    # imported here: a model of our own opens without them, a fifth faster
    from sieve.importers.cache import cache_folder, cached
    from sieve.importers.families import is_foreign
    from sieve.importers.hub import from_hub, is_hub_name

    if not path.exists() and is_hub_name(str(model)):
        return cached(from_hub(str(model)))
    if path.is_file() or (path.is_dir() and is_foreign(Origin(path))):
        return cached(Origin(path))
    kept = cache_folder() / path.name
    if not path.exists() and len(path.parts) == 1 and (kept / CONFIG_FILE).is_file():
        return kept  # as `sieve models` calls it
    return find_model(model)


def changeable_directory(model: str | Path, output: Path | None) -> Path:
    """The directory of a model that a verb changes or writes anew; others' are only read.

    Args:
        model: What `model_directory` takes.
        output: Where the result goes; None for the model itself or a place beside it.
    """
    directory = model_directory(model)
    if directory != Path(model) and output is None:
        kind = "a built-in model" if directory in built_in().values() else "an imported model"
        raise ConfigError(f"{model}: {kind} stays as it is; give --output DIR")
    return directory


def foreign_source(model: str | Path) -> Origin:
    """The source of a model of another toolkit, which is not Sieve's own already."""
    from sieve.importers.hub import from_hub, is_hub_name

    path = Path(model)
    if path.is_dir() and is_own(path):
        raise ModelError(f"{model}: is a model directory of Sieve's already; use it as it is")
    if path.exists():
        return Origin(path)
    if is_hub_name(str(model)):
        return from_hub(str(model))
    raise InputError(f"{model}: no such file or directory, and no name on the hub (owner/model)")
