"""One worker: a server on the port, the board and the models that it shares with others.

Run as `python -m sieve.serve.workers.worker` by the supervisor only. Ends when it is told to, and
when the supervisor is gone, once the requests that it has accepted are answered.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from dataclasses import dataclass, field
from typing import Any

from sieve import log
from sieve.bundle.directory import bundle_of
from sieve.config import from_dict
from sieve.errors import ModelError, SieveError
from sieve.files import sealed_folder
from sieve.serve.access_log import AccessLog
from sieve.serve.common import Common
from sieve.serve.file_work import KeptFile
from sieve.serve.models import Model, Models, Offer
from sieve.serve.run import configured
from sieve.serve.service import Service
from sieve.serve.settings import Settings
from sieve.serve.shared.board import shared_board
from sieve.serve.workers.channel import Channel, Message
from sieve.serve.workers.doorman import SharingServer
from sieve.serve.workers.stock import keys_in, offer_fields, offers_in
from sieve.translate.load import load_bundle


@dataclass(frozen=True)
class SharedStock:
    """What the supervisor keeps for all workers, as a worker sees it."""

    channel: Channel

    def opened(self, offer: Offer) -> Model:
        """A model whose weights lie in memory that all workers share."""
        fields = offer_fields(offer)
        descriptor = self._ask(Message({"ask": "open", "offer": fields})).descriptor
        assert descriptor is not None
        try:
            folder = sealed_folder(descriptor)
        finally:
            os.close(descriptor)
        translator = load_bundle(bundle_of(folder), threads=1)

        def close() -> None:
            self._ask(Message({"ask": "close", "offer": fields}))

        return Model(offer.name, translator, close=close)

    def keep(self, name: str, data: bytes) -> str:
        """See `FileKeeper`."""
        return str(self._ask(Message({"ask": "keep", "name": name}, data)).fields["key"])

    def find(self, key: str) -> KeptFile | None:
        """See `FileKeeper`."""
        answer = self._ask(Message({"ask": "find", "key": key}))
        name = answer.fields.get("name")
        return None if name is None else KeptFile(name, answer.data, until=0.0)

    def _ask(self, message: Message) -> Message:
        try:
            return self.channel.ask(message)
        except (OSError, EOFError):
            raise ModelError("the server is ending") from None


@dataclass
class Orders:
    """Does what the supervisor orders, in a thread."""

    channel: Channel
    service: Service
    server: SharingServer
    stock: SharedStock
    everything: bool
    """Whether all models are open."""
    keys: frozenset[bytes]
    _prepared: tuple[Models, frozenset[bytes]] | None = field(default=None)

    def follow(self) -> None:
        """Until the supervisor is gone; then the server ends."""
        try:
            while True:
                self.channel.send(Message(self._done(self.channel.receive().fields)))
        except (OSError, EOFError):
            self.server.should_exit = True

    def _done(self, order: dict[str, Any]) -> dict[str, Any]:
        if order["order"] == "prepare":
            models = self.service.models
            try:
                renewed = models.renewed(offers_in(order), self.stock.opened, self.everything)
            except SieveError as error:
                return {"error": str(error)}
            self._prepared = renewed, keys_in(order)
        elif self._prepared is not None:
            renewed, keys = self._prepared
            if order["order"] == "commit":
                self.keys = keys
                self.service.renew(renewed)
            else:
                for model in renewed.left_by(self.service.models):
                    model.close()
            self._prepared = None
        return {}


def main() -> None:
    """Serves; the arguments are descriptors of the two channels, the port and the board."""
    asks, orders, port, memory = map(int, sys.argv[1:])
    log.configure()
    channel = Channel(socket.socket(fileno=asks))
    hello = channel.receive().fields
    settings = from_dict(Settings, hello["settings"])
    board = shared_board(memory, settings.workers, hello["number"])
    stock = SharedStock(channel)
    follower: Orders | None = None

    def keys() -> frozenset[bytes]:
        return follower.keys if follower else frozenset()

    form = settings.access_log
    access_log = AccessLog(form, settings.log_texts) if form else None
    models = Models(offers_in(hello), stock.opened)
    try:
        if not settings.idle_minutes:
            models.open_all()
    except SieveError as error:
        sys.exit(_said(error))
    service = Service(models, settings, Common(board, stock, keys, access_log))

    def started() -> None:
        channel.ask(Message({"ask": "ready"}))

    config = configured(service, settings, started)
    server = SharingServer(config, socket.socket(fileno=port), board)
    follower = Orders(
        Channel(socket.socket(fileno=orders)), service, server, stock,
        not settings.idle_minutes, keys_in(hello),
    )  # fmt: skip
    threading.Thread(target=follower.follow, daemon=True).start()
    server.run(sockets=[])


def _said(error: SieveError) -> int:
    log.logger.error("%s", error)
    return 2


if __name__ == "__main__":
    main()
