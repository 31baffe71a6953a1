"""The models of a server, one for each pair of languages: known at once, opened when needed."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from typing_extensions import TypedDict

from sieve.bundle.catalogue import VARIABLE, built_in
from sieve.bundle.directory import CONFIG_FILE, open_bundle
from sieve.errors import ConfigError, ModelError, SieveError
from sieve.importers.opening import model_directory
from sieve.log import logger
from sieve.processes.memory import return_memory
from sieve.serve.language_names import name_of
from sieve.serve.refusal import Refused
from sieve.translate.load import languages_of, load, selection_resources
from sieve.translate.translation import Runner
from sieve.translate.translator import Translator


class Described(TypedDict):
    """A language of the server."""

    code: str
    name: str
    targets: list[str]


@dataclass(frozen=True)
class Offer:
    """What is known of a model that need not be open."""

    name: str
    directory: Path
    languages: tuple[str, ...]
    selections: tuple[str, ...] = ()
    """What it can select with, by short name."""
    version: str = ""
    """Another one when its files are others."""


@dataclass(frozen=True, eq=False)
class Model:
    """A translator and what it is called."""

    name: str
    translator: Translator
    substitute: Runner | None = None
    """Translates lines in the translator's place."""
    close: Callable[[], None] = lambda: None
    """Called when no further request will get it."""

    @property
    def runner(self) -> Runner:
        """Who translates lines."""
        return self.substitute or self.translator

    @property
    def offer(self) -> Offer:
        """What it says of itself."""
        resources = self.translator.resources
        able = {"nvs": resources.threshold is not None, "lexicon": resources.lexicon is not None}
        selections = tuple(name for name, can in able.items() if can)
        return Offer(self.name, Path(self.name), self.translator.languages, selections)


Opener = Callable[[Offer], Model]


@dataclass(eq=False)
class _Shelf:
    offer: Offer
    model: Model | None = None
    opening: asyncio.Future[Model] | None = None
    used: float = field(default_factory=time.monotonic)


class Models:
    """Which model translates from which language to which."""

    def __init__(
        self, offers: Sequence[Offer], opener: Opener, open: Mapping[Offer, Model] | None = None
    ) -> None:
        """Opens nothing.

        Args:
            offers: The models.
            opener: Opens one.
            open: Those that are open already.
        """
        self._opener = opener
        self._by_pair: dict[tuple[str, str], _Shelf] = {}
        for offer in offers:
            if len(offer.languages) != 2 or not all(offer.languages):
                raise ModelError(f"{offer.name}: its config.json names no languages, expected two")
            source, target = offer.languages[0].lower(), offer.languages[1].lower()
            own = _Shelf(offer, (open or {}).get(offer))
            other = self._by_pair.setdefault((source, target), own)
            if other is not own:
                raise ConfigError(
                    f"{other.offer.name} and {offer.name} both translate {source} to {target}, "
                    "expected one model for each pair of languages"
                )

    @classmethod
    def of(cls, models: Sequence[Model]) -> Models:
        """Models that are open and stay so."""
        by_offer = {model.offer: model for model in models}
        return cls([model.offer for model in models], by_offer.__getitem__, by_offer)

    @property
    def names(self) -> list[str]:
        """Of all models."""
        return [shelf.offer.name for shelf in self._by_pair.values()]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Source and target language of every model."""
        return list(self._by_pair)

    @property
    def languages(self) -> list[str]:
        """All codes, source languages first."""
        sources = [source for source, _ in self._by_pair]
        targets = [target for _, target in self._by_pair]
        return list(dict.fromkeys([*sources, *targets]))

    @property
    def selections(self) -> list[str]:
        """Selections that every model offers, by short name."""
        able = [shelf.offer.selections for shelf in self._by_pair.values()]
        return ["none", *(name for name in ("nvs", "lexicon") if all(name in own for own in able))]

    @property
    def open(self) -> dict[Offer, Model]:
        """Those that are open."""
        shelves = self._by_pair.values()
        return {shelf.offer: shelf.model for shelf in shelves if shelf.model is not None}

    def targets(self, source: str) -> list[str]:
        """Languages that a text can be translated into, its own included."""
        return [source, *(target for start, target in self._by_pair if start == source)]

    def described(self) -> list[Described]:
        """Code, name and targets of every language."""
        return [
            Described(code=code, name=name_of(code), targets=self.targets(code))
            for code in self.languages
        ]

    async def opened(self, source: str, target: str) -> Model | None:
        """The model of a pair, which is opened where it is not open."""
        shelf = self._by_pair.get((source, target))
        if shelf is None:
            return None
        shelf.used = time.monotonic()
        model = shelf.model  # which another thread may close
        if model is not None:
            return model
        if shelf.opening is None:
            shelf.opening = asyncio.ensure_future(asyncio.to_thread(self._opener, shelf.offer))
            shelf.opening.add_done_callback(lambda opening: _opened(shelf, opening))
        try:
            # others wait for it, too: who leaves must not cancel it
            return await asyncio.shield(shelf.opening)
        except SieveError:
            raise Refused(
                503, f"{shelf.offer.name} cannot be opened: see the log of the server",
                "not_open", retry_after=60,
            ) from None  # fmt: skip

    def open_all(self) -> None:
        """Opens every model."""
        for shelf in self._by_pair.values():
            shelf.model = shelf.model or self._opener(shelf.offer)

    def close_idle(self, seconds: float) -> None:
        """Lets go of models that nobody has asked for so long; requests under way keep theirs."""
        closed = False
        for shelf in self._by_pair.values():
            if shelf.model is not None and shelf.used < time.monotonic() - seconds:
                shelf.model.close()
                shelf.model, closed = None, True
        if closed:
            return_memory()

    def renewed(self, offers: Sequence[Offer], opener: Opener, everything: bool) -> Models:
        """Models in the place of these: what is unchanged stays, what is open is opened anew.

        Args:
            offers: The new ones.
            opener: Opens one.
            everything: Whether all are opened, or only those whose pair is open here.
        """
        renewed, is_open = Models(offers, opener, self.open), self.open
        busy = {pair for pair, shelf in self._by_pair.items() if shelf.offer in is_open}
        for pair, shelf in renewed._by_pair.items():
            if shelf.model is None and (everything or pair in busy):
                shelf.model = opener(shelf.offer)
        return renewed

    def left_by(self, renewed: Models) -> list[Model]:
        """Open models that others do not have any more."""
        kept = {id(model) for model in renewed.open.values()}
        return [model for model in self.open.values() if id(model) not in kept]


def offers_of(names: Sequence[str]) -> list[Offer]:
    """The models that directories or names stand for; by default all built-in ones.

    A directory with model directories in it stands for all of them.
    """
    chosen = [*names] or sorted(built_in())
    if not chosen:
        raise ModelError(
            f"no model is built in or in a folder of {VARIABLE}: give a model directory"
        )
    offers = [_offer(name) for given in chosen for name in _inside(given)]
    Models(offers, opened)  # says which of them do not go together
    return offers


def open_models(names: Sequence[str]) -> Models:
    """Models by directory or name, all open."""
    models = Models(offers_of(names), opened)
    models.open_all()
    return models


def opened(offer: Offer) -> Model:
    """A model, in memory of this process."""
    return Model(offer.name, load(offer.directory, threads=1))


def _opened(shelf: _Shelf, opening: asyncio.Future[Model]) -> None:
    shelf.opening = None
    error = None if opening.cancelled() else opening.exception()
    if error is not None:
        logger.error("%s cannot be opened: %s", shelf.offer.name, error)
    elif not opening.cancelled():
        shelf.model = opening.result()


def _inside(name: str) -> list[str]:
    path = Path(name)
    if not path.is_dir() or (path / CONFIG_FILE).exists():
        return [name]
    folders = sorted(each for each in path.iterdir() if not each.name.startswith("."))
    return [str(each) for each in folders if (each / CONFIG_FILE).is_file()] or [name]


def _offer(name: str) -> Offer:
    directory = model_directory(name)
    bundle = open_bundle(directory)
    resources = selection_resources(bundle)
    able = {"nvs": resources.threshold is not None, "lexicon": resources.lexicon is not None}
    return Offer(
        Path(name).name,
        directory,
        languages_of(bundle),
        tuple(each for each, can in able.items() if can),
        _version(directory),
    )


def _version(directory: Path) -> str:
    """What becomes another one when a file is replaced, without reading any."""
    parts = []
    for path in sorted(each for each in directory.iterdir() if each.is_file()):
        status = path.stat()
        parts.append((path.name, status.st_ino, status.st_size, status.st_ctime_ns))
    return hashlib.sha256(repr(parts).encode()).hexdigest()
