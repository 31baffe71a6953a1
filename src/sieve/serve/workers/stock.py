"""What the supervisor keeps for its workers: sealed copies of models, and finished documents.

A copy lives as long as a worker uses it; where all models stay open, as long as they are served.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sieve.bundle.directory import WEIGHTS_FILE, open_bundle
from sieve.bundle.packing import packed_parameters
from sieve.errors import ModelError, SieveError
from sieve.files import seal_folder
from sieve.processes.memory import return_memory
from sieve.serve.file_work import KeptFiles
from sieve.serve.models import Offer
from sieve.serve.workers.channel import Message


@dataclass(eq=False)
class _Copy:
    descriptor: int
    holders: set[int] = field(default_factory=set)


class Stock:
    """Answers workers; threads share it."""

    def __init__(self, offers: Sequence[Offer], keys: frozenset[bytes], stays: bool) -> None:
        """Copies nothing yet.

        Args:
            offers: The models.
            keys: Digests of API keys.
            stays: Whether copies stay while no worker uses them.
        """
        self._lock = threading.Lock()
        self._files = KeptFiles()
        self._copies: dict[Offer, _Copy] = {}
        self._stays = stays
        self.offers: Sequence[Offer] = offers
        self.keys: frozenset[bytes] = keys

    def seal(self, offers: Sequence[Offer]) -> None:
        """Copies models that are not copied yet."""
        with self._lock:
            for offer in offers:
                self._copy(offer)

    def take(self, offers: Sequence[Offer], keys: frozenset[bytes]) -> None:
        """Serves other models from now on; copies that nobody wants any more go."""
        with self._lock:
            self.offers, self.keys = offers, keys
            self._tidy()

    def tidy(self) -> None:
        """Drops copies of models that are not served and not used."""
        with self._lock:
            self._tidy()

    def answer(self, worker: int, asked: Message) -> Message:
        """What a worker is told."""
        try:
            with self._lock:
                return self._answer(worker, asked)
        except (SieveError, OSError) as error:
            return Message({"error": str(error)})

    def left(self, worker: int) -> None:
        """A worker is gone, and with it what it used."""
        with self._lock:
            for copy in self._copies.values():
                copy.holders.discard(worker)
            self._tidy()

    def _answer(self, worker: int, asked: Message) -> Message:
        match asked.fields:
            case {"ask": "open", "offer": dict(fields)}:
                copy = self._copy(_offer(fields))
                copy.holders.add(worker)
                return Message({}, descriptor=copy.descriptor)
            case {"ask": "close", "offer": dict(fields)}:
                known = self._copies.get(_offer(fields))
                if known is not None:
                    known.holders.discard(worker)
                    self._tidy()
                return Message({})
            case {"ask": "keep", "name": str(name)}:
                return Message({"key": self._files.keep(name, asked.data)})
            case {"ask": "find", "key": str(key)}:
                file = self._files.find(key)
                return Message({"name": file.name}, file.data) if file else Message({})
        raise ModelError(f"got the message {asked.fields!r:.100}")

    def _copy(self, offer: Offer) -> _Copy:
        if offer not in self._copies:
            bundle = open_bundle(offer.directory)
            packed = {} if bundle.is_int8 else {WEIGHTS_FILE: packed_parameters(bundle)}
            self._copies[offer] = _Copy(seal_folder(bundle.folder, packed))
            if packed:
                packed.clear()
                return_memory()
        return self._copies[offer]

    def _tidy(self) -> None:
        for offer, copy in list(self._copies.items()):
            if not copy.holders and not (self._stays and offer in self.offers):
                os.close(self._copies.pop(offer).descriptor)


def catalogue(offers: Sequence[Offer], keys: frozenset[bytes]) -> dict[str, Any]:
    """Models and keys, as workers get them."""
    return {
        "offers": [offer_fields(offer) for offer in offers],
        "keys": sorted(key.hex() for key in keys),
    }


def offer_fields(offer: Offer) -> dict[str, Any]:
    """A model, as workers get it and ask for it."""
    return {**asdict(offer), "directory": str(offer.directory)}


def offers_in(fields: dict[str, Any]) -> list[Offer]:
    """The models of a catalogue."""
    return [_offer(each) for each in fields["offers"]]


def keys_in(fields: dict[str, Any]) -> frozenset[bytes]:
    """The keys of a catalogue."""
    return frozenset(map(bytes.fromhex, fields["keys"]))


def _offer(fields: dict[str, Any]) -> Offer:
    return Offer(
        fields["name"],
        Path(fields["directory"]),
        tuple(fields["languages"]),
        tuple(fields["selections"]),
        fields["version"],
    )
