"""From the fields of a request to values: what both dialects share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sieve.serve.detect import Detected, Detector
from sieve.serve.languages import name_of
from sieve.serve.models import Model, Models
from sieve.serve.web import Refused

AUTO = "auto"


@dataclass(frozen=True)
class Direction:
    """From which language to which, and with what."""

    source: str
    target: str
    model: Model | None
    """None from a language to itself."""
    detected: Detected | None
    """Where the client did not say what the source is."""


def language(fields: dict[str, Any], name: str) -> str:
    """A field that must be there and be the code of a language."""
    value = fields.get(name)
    if not value:
        raise Refused(400, f"Invalid request: missing {name} parameter")
    if not isinstance(value, str):
        raise Refused(400, f"Invalid request: {name} parameter is not a string")
    return value.lower()


def strings(fields: dict[str, Any], name: str) -> list[str]:
    """A field that must be there and be a list of strings."""
    value = fields.get(name, [])
    if value == []:
        raise Refused(400, f"Invalid request: missing {name} parameter")
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Refused(400, f"Invalid request: {name} parameter is not a list of strings")
    return value


def whole(value: object) -> int | None:
    """A whole number as JSON or a form may spell it, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    try:
        return int(value)
    except ValueError:
        return None


async def direction(
    models: Models, detector: Detector, source: str, target: str, texts: Sequence[str]
) -> Direction:
    """The model for a pair of languages; `auto` asks what language the texts are in."""
    detected = None
    if source == AUTO:
        detected = (await asyncio.to_thread(detector.detect, texts))[0]
        source = detected.language
    for code in (source, target):
        if code not in models.languages:
            raise Refused(400, f"{code[:40]} is not supported")
    model = models.find(source, target)
    if model is None and source != target:
        raise Refused(
            400,
            f"{name_of(target)} ({target}) is not available as a target language from "
            f"{name_of(source)} ({source})",
        )
    return Direction(source, target, model, detected)
