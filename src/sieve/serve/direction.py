"""From which language to which a request goes, and which model does it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from sieve.serve.detect import Detected
from sieve.serve.language_names import name_of
from sieve.serve.models import Model
from sieve.serve.refusal import Refused
from sieve.serve.service import Client, Service

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


async def direction(
    service: Service, client: Client, source: str, target: str, texts: Sequence[str]
) -> Direction:
    """The model for a pair of languages; `auto` asks what language the texts are in."""
    models = service.models
    source, target, detected = source.lower(), target.lower(), None
    note = client.note
    note.source, note.target, note.texts = source, target, texts
    if source == AUTO:
        detected = (await asyncio.to_thread(service.detector.detect, texts))[0]
        source = note.source = detected.language
    for code in (source, target):
        if code not in models.languages:
            raise Refused(400, f"{code[:40]} is not supported")
    model = await models.opened(source, target)
    if model is None and source != target:
        raise Refused(
            400,
            f"{name_of(target)} ({target}) is not available as a target language from "
            f"{name_of(source)} ({source})",
        )
    note.model = model.name if model else ""
    return Direction(source, target, model, detected)
