"""HTTP dialects, one a file: what a request of each asks for, and how it is answered.

A dialect is a module of this folder with a function `operations`; the server, its schema and its
metrics take what is there. Dialects know the service, and no web server.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from sieve.serve.access import Access
from sieve.serve.service import Service
from sieve.serve.web.operation import Operation


class Dialect(Protocol):
    """A module of this folder."""

    def operations(self, service: Service, access: Access) -> Sequence[Operation]:
        """What can be asked of a server in this dialect."""
        ...


def dialects() -> list[Dialect]:
    """All modules of this folder, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [cast(Dialect, import_module(f"{__name__}.{name}")) for name in names]
