"""A stage of a build: what it reads, what it writes, and the stamp that says it is done.

A stamp is written with the outputs and names the settings, every input file and every output file:
small files by their content, large ones by size and time. A stage is done if all of that still
holds. One that was killed has a stamp without outputs and resumes; one whose inputs changed puts
its old outputs aside and starts again. Knows nothing of what stages do.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sieve.errors import InputError
from sieve.files import write_json
from sieve.processes.locks import FileLock

SMALL = 1 << 20
"""Bytes up to which a file's content is compared."""
Marks = dict[str, str]


@dataclass(frozen=True)
class Stage:
    """One step, named once for a pair or once for a direction ("head.en-de")."""

    name: str
    about: str
    run: Callable[[], None]
    inputs: tuple[Path, ...]
    outputs: tuple[Path, ...]
    maybe: tuple[Path, ...] = ()
    """Inputs that need not be there."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What of the recipe it depends on: a change starts it again."""
    budget: Mapping[str, Any] = field(default_factory=dict)
    """A change lets it continue."""
    owns: tuple[Path, ...] = ()
    """What goes aside when it starts again, if more than the outputs."""
    grows: bool = False
    """Works piece by piece: new inputs beside unchanged ones let it continue."""
    optional: bool = False
    """Runs only when it is named."""

    @property
    def base(self) -> str:
        """The name without a direction."""
        return self.name.partition(".")[0]


def marks(paths: tuple[Path, ...]) -> Marks:
    """A mark for each file under some paths; hidden files and locks do not count."""
    return {
        str(file): _mark(file)
        for path in paths
        for file in ([path] if path.is_file() else sorted(path.rglob("*")))
        if file.is_file() and not _hidden(file, path)
    }


def _hidden(file: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(root).parts)


def _mark(file: Path) -> str:
    status = file.stat()
    if status.st_size <= SMALL:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    return f"{status.st_size} bytes of {status.st_mtime_ns}"


class Stamps:
    """The stamps of a build, one JSON file a stage."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def why_not_done(self, stage: Stage) -> str:
        """Why a stage is to run, in a few words; empty where it is done."""
        stamp = self._read(stage)
        if not stamp:
            return "not run yet"
        if reason := self._changed(stage, stamp) or _first_new(stage, stamp):
            return reason
        if stamp["budget"] != _plain(stage.budget):
            return "its budget changed"
        if not stamp["done"]:
            return "interrupted"
        now = marks(stage.outputs)
        gone = [file for file, mark in stamp["outputs"].items() if now.get(file) != mark]
        return f"{gone[0]} is missing or was changed" if gone else ""

    def carry_out(self, stage: Stage) -> None:
        """Runs a stage and stamps it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            lock = FileLock(self._folder / f"{stage.name}.lock")
        except BlockingIOError:
            raise InputError(f"{stage.name}: another process is at it; wait for it") from None
        try:
            stamp = self._read(stage)
            if stamp and self._changed(stage, stamp):
                self._put_aside(stage)
            begun = self._identity(stage)
            self._write(stage, {**begun, "done": False, "outputs": {}})
            stage.run()
            missing = [path for path in stage.outputs if not path.exists()]
            if missing:
                raise InputError(f"{stage.name}: ended without {missing[0]}; see what it printed")
            # a stage that grows may add to what it reads
            identity = self._identity(stage) if stage.grows else begun
            self._write(stage, {**identity, "done": True, "outputs": marks(stage.outputs)})
        finally:
            lock.release()

    def _identity(self, stage: Stage) -> dict[str, Any]:
        return {
            "settings": _plain(stage.settings),
            "budget": _plain(stage.budget),
            "inputs": marks((*stage.inputs, *stage.maybe)),
        }

    def _changed(self, stage: Stage, stamp: Mapping[str, Any]) -> str:
        """Why what is there is of no use; empty where it is, or the stage continues with it."""
        if stamp["settings"] != _plain(stage.settings):
            return "its settings changed"
        then, now = stamp["inputs"], marks((*stage.inputs, *stage.maybe))
        for file in then:
            if then[file] != now.get(file):
                return f"{file} changed"
        return "" if stage.grows else _first_new(stage, stamp)

    def _put_aside(self, stage: Stage) -> None:
        aside = self._folder.parent / "aside" / stage.name
        shutil.rmtree(aside, ignore_errors=True)
        for path in stage.owns or stage.outputs:
            if path.exists():
                aside.mkdir(parents=True, exist_ok=True)
                path.rename(aside / path.name)

    def _path(self, stage: Stage) -> Path:
        return self._folder / f"{stage.name}.json"

    def _read(self, stage: Stage) -> dict[str, Any]:
        try:
            stamp: dict[str, Any] = json.loads(self._path(stage).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return stamp

    def _write(self, stage: Stage, stamp: Mapping[str, Any]) -> None:
        write_json(self._path(stage), stamp)


def _first_new(stage: Stage, stamp: Mapping[str, Any]) -> str:
    """The first input file that was not there when the stage ran."""
    now = marks((*stage.inputs, *stage.maybe))
    return next((f"{file} is new" for file in now if file not in stamp["inputs"]), "")


def _plain(values: Mapping[str, Any]) -> Any:
    return json.loads(json.dumps(values))
