"""An output file that survives being killed: its lines so far stay beside it for the next run.

A note says what the lines were made with, so that two models or two settings never meet in one
file; a lock keeps a second process out. Knows neither models nor options.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType

from sieve.files import claim_partial, put_in_place, read_json, write_json
from sieve.log import logger

_SHOWN = 3


class ResumableFile:
    """Lines of a file in the making; the file appears when the block succeeds.

    Args:
        output: The file to make; no link, no device (`files.replaceable`).
        made_with: What the lines depend on, by names that a user knows.
    """

    def __init__(self, output: Path, made_with: Mapping[str, str]) -> None:
        self._output = output
        self._made_with = dict(made_with)
        self._partial, self._lock = claim_partial(output)
        self._note = self._partial.with_name(f"{self._partial.name}.json")

    def __enter__(self) -> ResumableFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            put_in_place(self._partial, self._output)
        elif not self._partial.stat().st_size:
            self._partial.unlink()
        if not self._partial.exists():
            self._note.unlink(missing_ok=True)
        self._lock.release()

    def write(self, parts: Iterable[bytes]) -> None:
        """Adds lines or parts of them; whole lines are there for the next run from now on."""
        with self._partial.open("ab") as file:
            file.writelines(parts)

    def resume(self) -> int:
        """How many lines an earlier run has left; 0 and a notice where something has changed."""
        if self._partial.stat().st_size and self._note.is_file():
            changed = self._changed(read_json(self._note))
            if not changed:
                return self._keep_whole_lines()
            logger.warning(
                "%s: begun with another %s; starting over", self._output, ", ".join(changed)
            )
        self._partial.write_bytes(b"")
        write_json(self._note, self._made_with)
        return 0

    def _changed(self, before: Mapping[str, object]) -> list[str]:
        names = sorted(before.keys() | self._made_with.keys())
        changed = [name for name in names if before.get(name) != self._made_with.get(name)]
        return changed if len(changed) <= _SHOWN else [*changed[:_SHOWN], "…"]

    def _keep_whole_lines(self) -> int:
        lines = size = 0
        with self._partial.open("rb+") as file:
            for line in file:
                if line.endswith(b"\n"):
                    lines, size = lines + 1, size + len(line)
            file.truncate(size)
        return lines
