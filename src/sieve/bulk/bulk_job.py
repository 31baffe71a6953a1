"""A job from its inputs to its outputs and manifest; resumes when rerun after any kill."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from sieve.bulk.assembly import Assembly, FileAccount
from sieve.bulk.cells import CellTranslator, ModelUse
from sieve.bulk.inputs import InputFile, input_files
from sieve.bulk.piece_store import PieceStore, changes
from sieve.bulk.planning import BulkPlan, PendingPieces, Shard, make_plan
from sieve.bulk.rows.row_formats import RowOptions
from sieve.errors import InputError
from sieve.files import read_json, write_json
from sieve.log import Estimate, logger

FORMAT_VERSION = 1
MANIFEST = "manifest.json"


class PieceRunner(Protocol):
    """Who translates pieces: this machine or a cluster, ready while a block lasts."""

    def __enter__(self) -> Any:
        """Makes ready; what is wrong with a cluster is said here."""

    def __exit__(self, *error: object) -> None:
        """Lets go."""

    def run(self, pending: PendingPieces) -> Iterator[tuple[str, bytes]]:
        """The name and the content of finished pieces, as they are finished."""


@dataclass(frozen=True)
class BulkOptions:
    """What to translate and where to."""

    inputs: tuple[str, ...]
    output: Path
    """A directory, or the output of a single file."""
    single: bool = False
    """Whether `output` is the file."""
    rows: RowOptions = field(default_factory=RowOptions)
    deduplicate: bool = False
    """Whether texts that are equal are translated once."""
    resume: bool = False
    """Whether to continue an earlier run."""
    shard: Shard | None = None
    """Which part of the pieces to translate."""

    @property
    def pieces(self) -> Path:
        """Where finished pieces are kept until all are."""
        name = f".{self.output.name}.pieces"
        return self.output.with_name(name) if self.single else self.output / ".pieces"

    @property
    def manifest(self) -> Path:
        """Where the manifest goes."""
        if self.single:
            return self.output.with_name(f"{self.output.name}.{MANIFEST}")
        return self.output / MANIFEST

    def target(self, file: InputFile) -> Path:
        """Where the output of a file goes."""
        return self.output if self.single else self.output / file.name


class BulkJob:
    """A job."""

    def __init__(self, options: BulkOptions, use: ModelUse) -> None:
        """Says at once what cannot be done, and writes nothing.

        Args:
            options: What to translate and where to.
            use: With which model.
        """
        self._options = options
        self._use = use
        self._files = input_files(options.inputs)
        self._store = PieceStore(options.pieces)
        self._check_outputs()
        for file in self._files:
            options.rows.of(file.name)
        self._made_with = use.made_with | {
            "duplicates": "translated once" if options.deduplicate else "translated",
            "rows": asdict(options.rows),
        }
        self._check_pieces()
        self._check_manifest()
        CellTranslator(use)  # says what is wrong with the model or the request

    def _check_pieces(self) -> None:
        """Refuses a directory with pieces of another run; a single file starts over."""
        before, where = self._store.made_with(), self._options.output
        if before is None:
            return
        changed = ", ".join(changes(before, self._made_with))
        if changed and self._options.single:
            logger.warning("%s: begun with another %s; starting over", where, changed)
            self._store.remove()
        elif changed:
            raise InputError(
                f"{where}: has pieces of a run with another {changed}; choose another --output or "
                f"remove {self._store.directory}"
            )
        elif not self._options.resume:
            raise InputError(
                f"{where}: has pieces of an earlier run; --resume continues it, or choose another "
                "--output"
            )

    def _check_manifest(self) -> None:
        """Refuses to write over what another run has finished."""
        where = self._options.manifest
        if self._options.single or not where.is_file():
            return
        before = read_json(where).get("options")
        if not isinstance(before, dict):
            raise InputError(f"{where}: is of something else; choose another --output")
        if changed := changes(before, {**self._made_with, "shard": before.get("shard")}):
            raise InputError(
                f"{where}: is of a run with another {', '.join(changed)}; choose another --output"
            )

    def _check_outputs(self) -> None:
        if self._options.output.exists() and self._options.output.is_dir() == self._options.single:
            expected = "a file to write" if self._options.single else "a directory"
            raise InputError(
                f"{self._options.output}: expected {expected}; choose another --output"
            )
        for file in self._files:
            output = self._options.target(file)
            if output.exists() and Path(file.path).exists() and output.samefile(file.path):
                raise InputError(f"{output}: is also an input; choose another --output")
            if output.exists() and not self._options.resume and not self._options.single:
                raise InputError(
                    f"{output}: is there already; --resume continues an earlier run, or choose "
                    "another --output"
                )

    def run(self, runner: PieceRunner) -> dict[str, Any] | None:
        """Does what is left to do; gives the manifest, or None where other shards are not done."""
        started = time.monotonic()
        with self._scratch() as scratch:
            logger.info("reading %d files", len(self._files))
            plan = make_plan(
                self._files,
                self._options.rows,
                self._use.identity,
                scratch if self._options.deduplicate else None,
            )
            if self._is_done(plan):
                logger.info("%s: is complete", self._options.output)
                return read_json(self._options.manifest)
            holder = f"shard-{self._options.shard or Shard()}".replace("/", "-of-")
            try:
                with runner:
                    self._store.claim(self._made_with, holder)
                    self._translate(plan, runner)
                return self._finish(plan, started)
            finally:
                self._store.release()

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        """A directory on the disk of the outputs."""
        there = next(path for path in self._options.output.absolute().parents if path.is_dir())
        with tempfile.TemporaryDirectory(prefix=".sieve-bulk-", dir=there) as scratch:
            yield Path(scratch)

    def _is_done(self, plan: BulkPlan) -> bool:
        manifest = self._options.manifest
        if not self._options.resume or not manifest.is_file():
            return False
        return read_json(manifest).get("plan") == self._digest(plan) and all(
            self._options.target(file).is_file() for file in self._files
        )

    def _own(self, plan: BulkPlan) -> BulkPlan:
        return plan if self._options.shard is None else self._options.shard.part(plan)

    def _digest(self, plan: BulkPlan) -> str:
        return (self._own(plan) if self._options.single else plan).digest

    def _translate(self, plan: BulkPlan, runner: PieceRunner) -> None:
        own = self._own(plan)
        keys = own.keys
        done = {key for key in keys if self._store.has(key)}
        pending = PendingPieces.of(own, done)
        rows = sum(keys.values())
        estimate = Estimate(rows, "rows", sum(keys[key] for key in done))
        if done:
            logger.info("resuming: %d of %d pieces are finished", len(done), len(keys))
        if len(pending):
            for key, content in runner.run(pending):
                self._store.put(key, content)
                estimate.add(keys[key])
        estimate.close()

    def _finish(self, plan: BulkPlan, started: float) -> dict[str, Any] | None:
        whole_plan = self._own(plan) if self._options.single else plan
        missing = [key for key in whole_plan.keys if not self._store.has(key)]
        if missing:
            if self._options.shard is None:
                raise InputError(f"{len(missing)} pieces did not come back; --resume tries again")
            logger.info(
                "shard %s is done, %d pieces of others are missing; the last one to end writes "
                "the outputs",
                self._options.shard,
                len(missing),
            )
            return None
        assembly = Assembly(whole_plan, self._store)
        files = [assembly.write(file, self._options.target(file.file)) for file in whole_plan.files]
        manifest = self._manifest(whole_plan, assembly, files, time.monotonic() - started)
        write_json(self._options.manifest, manifest)
        manifest = read_json(self._options.manifest)
        self._store.release()
        self._store.remove()
        errors = sum(file.errors for file in files)
        if errors:
            logger.warning("%d texts have errors: %s", errors, self._options.manifest)
        return manifest

    def _manifest(
        self, plan: BulkPlan, assembly: Assembly, files: list[FileAccount], seconds: float
    ) -> dict[str, Any]:
        account = assembly.account
        return {
            "format_version": FORMAT_VERSION,
            "model": self._use.model,
            "model_hash": self._use.model_hash,
            "options": {**self._made_with, "shard": str(self._options.shard or Shard())},
            "rows": sum(file.rows for file in files),
            "texts": sum(piece.cells for file in plan.files for piece in file.pieces),
            "translated": account.cells,
            "errors": sum(file.errors for file in files),
            "tokens": {"source": account.source_tokens, "target": account.target_tokens},
            "seconds": {
                "work": round(account.seconds, 3),
                "since the last start": round(seconds, 3),
            },
            "pieces": len(plan.keys),
            "plan": plan.digest,
            "files": [asdict(file) for file in files],
        }
