"""The arguments of `Translator.translate` as one request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypedDict

from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError, InputError
from sieve.repair.glossary import Glossary
from sieve.translate.translation import Request


class Wishes(TypedDict, total=False):
    """The arguments of `Translator.translate` besides the text, for type checkers."""

    selection: str | None
    threshold: float | None
    beam_size: int | None
    options: SearchOptions | None
    include: Sequence[str]
    exclude: Sequence[str]
    prefix: str | Sequence[str]
    glossary: Glossary | None
    lossless: bool | None
    repair: bool


def check(lines: Sequence[str], request: Request) -> None:
    """Refuses what cannot be asked for together."""
    if request.prefixes and len(request.prefixes) != len(lines):
        raise InputError(f"got {len(request.prefixes)} prefixes for {len(lines)} texts")
    if request.glossary is not None and (request.prefixes or request.options.n_best > 1):
        raise InputError("prefix, n_best: cannot be given together with a glossary")


def with_wishes(options: SearchOptions | None, **wishes: Any) -> SearchOptions:
    """Search options with those wishes that are no None."""
    given = {name: value for name, value in wishes.items() if value is not None}
    return replace(options or SearchOptions(), **given)


def begun(request: Request, prefix: str | Sequence[str], number: int) -> Request:
    """A request for some lines, all of which begin with the prefix."""
    return replace(request, prefixes=(str(prefix),) * number) if prefix else request


def one_selection(selection: str | None, threshold: float | None) -> str | None:
    """The selection that two arguments ask for."""
    if threshold is None:
        return selection
    if selection is not None:
        raise ConfigError(
            f"got threshold {threshold} and selection '{selection}', expected one of them"
        )
    return f"nvs:{threshold}"
