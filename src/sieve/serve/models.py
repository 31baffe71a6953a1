"""The models of a server, one for each pair of languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import TypedDict

from sieve.bundle.catalogue import VARIABLE, built_in
from sieve.errors import ConfigError, ModelError
from sieve.serve.language_names import name_of
from sieve.translate.load import load
from sieve.translate.translation import Runner
from sieve.translate.translator import Translator


class Described(TypedDict):
    """A language of the server."""

    code: str
    name: str
    targets: list[str]


@dataclass(frozen=True)
class Model:
    """A translator and what it is called."""

    name: str
    translator: Translator
    substitute: Runner | None = None
    """Translates lines in the translator's place."""

    @property
    def runner(self) -> Runner:
        """Who translates lines."""
        return self.substitute or self.translator


class Models:
    """Which model translates from which language to which."""

    def __init__(self, models: Sequence[Model]) -> None:
        self._by_pair: dict[tuple[str, str], Model] = {}
        for model in models:
            pair = model.translator.languages
            if not all(pair):
                raise ModelError(f"{model.name}: its config.json names no languages, expected two")
            source, target = pair[0].lower(), pair[1].lower()
            other = self._by_pair.setdefault((source, target), model)
            if other is not model:
                raise ConfigError(
                    f"{other.name} and {model.name} both translate {source} to {target}, "
                    "expected one model for each pair of languages"
                )

    @property
    def first(self) -> Model:
        """The model named first."""
        return next(iter(self._by_pair.values()))

    @property
    def names(self) -> list[str]:
        """Of all models."""
        return [model.name for model in self._by_pair.values()]

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
        resources = [model.translator.resources for model in self._by_pair.values()]
        able = {
            "nvs": all(each.threshold is not None for each in resources),
            "lexicon": all(each.lexicon is not None for each in resources),
        }
        return ["none", *(name for name, can in able.items() if can)]

    def targets(self, source: str) -> list[str]:
        """Languages that a text can be translated into, its own included."""
        return [source, *(target for start, target in self._by_pair if start == source)]

    def find(self, source: str, target: str) -> Model | None:
        """The model of a pair."""
        return self._by_pair.get((source, target))

    def described(self) -> list[Described]:
        """Code, name and targets of every language."""
        return [
            Described(code=code, name=name_of(code), targets=self.targets(code))
            for code in self.languages
        ]


def open_models(names: Sequence[str]) -> Models:
    """Opens models by directory or name, a thread each; by default all built-in models."""
    chosen = [*names] or sorted(built_in())
    if not chosen:
        raise ModelError(
            f"no model is built in or in a folder of {VARIABLE}: give a model directory"
        )
    return Models([_opened(name) for name in chosen])


def _opened(name: str) -> Model:
    return Model(Path(name).name, load(name, threads=1))
