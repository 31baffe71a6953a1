"""A standard output that whoever started the program closed: an error when something is written."""

import io
from typing import Any, TextIO

from sieve.errors import InputError


class _Closed(io.RawIOBase):
    """Refuses once, so that Python's last flush says nothing more."""

    refused = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        if not self.refused:
            self.refused = True
            raise InputError("standard output is closed; send it to a file, or give --output FILE")
        return memoryview(data).nbytes


def closed_output() -> TextIO:
    """What takes the place of `sys.stdout`, which Python leaves empty."""
    return io.TextIOWrapper(io.BufferedWriter(_Closed()), encoding="utf-8")
