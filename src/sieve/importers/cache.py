"""Imported models that are kept: each source is converted once, then found by its content.

The place is SIEVE_CACHE, else `sieve` in XDG_CACHE_HOME, else `~/.cache/sieve`. A directory
there is whole or not there at all; processes that want the same one wait for each other.
"""

import hashlib
import json
import os
import time
from pathlib import Path

import sieve
from sieve.bundle.directory import CONFIG_FILE
from sieve.errors import InputError
from sieve.importers.families import importer_of
from sieve.importers.importing import ImportOptions, file_hashes, import_model
from sieve.importers.origin import Origin
from sieve.log import logger
from sieve.processes.locks import FileLock

VARIABLE = "SIEVE_CACHE"
VERSION = 2
"""Raised when an importer changes what it writes: older imports are then made again."""
_WAIT = 0.2
_FOLDER = "imported"


def cache_folder() -> Path:
    """Where imported models are kept."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named) / _FOLDER
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sieve" / _FOLDER


def cached(source: Origin) -> Path:
    """The model directory of a source, made if it is not there yet."""
    importer = importer_of(source)
    content = [VERSION, sieve.__version__, importer.family, file_hashes(importer.files(source))]
    key = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
    directory = cache_folder() / f"{_stem(source)}-{key}"
    if not (directory / CONFIG_FILE).is_file():
        lock = _locked(directory)
        try:
            if not (directory / CONFIG_FILE).is_file():  # another process made it meanwhile
                logger.info("%s: importing to %s", source.title, directory)
                import_model(source, directory, ImportOptions(family=importer.family))
        finally:
            lock.release()
    return directory


def _locked(directory: Path) -> FileLock:
    """The lock of one import; waits for whoever holds it."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                return FileLock(directory.with_name(f".{directory.name}.lock"))
            except BlockingIOError:
                time.sleep(_WAIT)
    except OSError as error:
        raise InputError(
            f"{directory.parent}: cannot be written: {error.strerror}; set {VARIABLE} to a folder "
            "for imported models"
        ) from None


def _stem(source: Origin) -> str:
    """A readable name: of a hub's model its last part, of a file its directory."""
    name = source.name.rpartition("/")[2] or source.directory.resolve().name
    return (
        "".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:60].lstrip(".") or "model"
    )
