"""A language pair's recipe.toml: data, dimensions and budgets, checked as it is read.

Knows nothing of stages and of where files lie.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sieve.config import from_dict, read_toml
from sieve.errors import ConfigError, SieveError

RUNS = ("teacher", "student", "settle", "head")
SHARED = ("settle", "head")
"""Runs whose settings are the same for all pairs, unless a recipe changes some."""


@dataclass(frozen=True)
class Run:
    """[model] and [training] of a training run, as `sieve train --config` takes them."""

    model: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Pieces:
    """Sizes of the two vocabularies."""

    teacher: int = 32_000
    student: int = 16_000


@dataclass(frozen=True)
class Budgets:
    """Minutes on a GPU, 0 for no limit, and how much the student translates itself."""

    teacher: float = 0.0
    distil: float = 0.0
    student: float = 0.0
    settle: float = 0.0
    head: float = 0.0
    own_pieces: int = 0
    """Pieces of the text that the student translates for its head; 0: all."""


@dataclass(frozen=True)
class Start:
    """Models of another pair to start from (corpora/transfer.py); empty for none."""

    teacher: str = ""
    students: dict[str, str] = field(default_factory=dict)
    """By direction."""
    tags: dict[str, str] = field(default_factory=dict)
    """Tag of the other pair and the tag here that takes its embedding."""


@dataclass(frozen=True)
class Ship:
    """The last steps."""

    sharpen: float = 1.2
    """A factor of all logits."""
    size: int = 850
    """Mean tokens of a shortlist on the validation text, before minimum and safety set."""
    threads: int = 1
    lexicon: Literal["distilled", "references"] = "distilled"
    """What the lexicon to compare with is learned from."""


@dataclass(frozen=True)
class Recipe:
    """What is trained on, validated with and tested on, and with which settings."""

    languages: tuple[str, ...]
    tags: tuple[str, ...]
    """Before a source whose translation is wanted in the first, in the second language."""
    groups: dict[str, tuple[str, ...]]
    """Corpora by group; a group is repeated as a whole in training."""
    validation: str
    tests: dict[str, tuple[str, ...]]
    """Test sets to take along: name of a set, then its two languages in the file's name."""
    licences: dict[str, str] = field(default_factory=dict)
    """Of each corpus, for the models' cards."""
    borrowed: dict[str, str] = field(default_factory=dict)
    """Licences of corpora of another pair of which one side is used (text/borrow.py)."""
    borrow: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By language, the files that lines are borrowed from."""
    repeats: dict[str, int] = field(default_factory=dict)
    """How often a group is trained on in an epoch."""
    first_part: dict[str, int] = field(default_factory=dict)
    """Of these corpora one block in so many goes to part 1, the others to part 2."""
    trusted: tuple[str, ...] = ()
    """Corpora whose languages are certain: names and equal sides (Radio, Radio) are no mistakes."""
    aligner_every: int = 4
    """The aligner learns from one pair in so many."""
    pieces: Pieces = Pieces()
    budgets: Budgets = Budgets()
    start: Start = Start()
    teacher: Run = Run()
    student: Run = Run()
    settle: Run = Run()
    head: Run = Run()
    ship: Ship = Ship()

    def __post_init__(self) -> None:
        for name in ("languages", "tags"):
            if len(getattr(self, name)) != 2:
                got = len(getattr(self, name))
                raise ConfigError(f"{name}: got {got} of them, expected two")
        known = {name for _, name in self.corpora()}
        for key, names in (("trusted", self.trusted), ("first_part", tuple(self.first_part))):
            for name in names:
                if name not in known:
                    raise ConfigError(f"{key}: got the corpus '{name}', which no group has")
        for name in self.repeats:
            if name not in self.groups:
                raise ConfigError(f"repeats: got the group '{name}', which [groups] has not")

    @property
    def name(self) -> str:
        """As in the names of files."""
        return "-".join(self.languages)

    def corpora(self) -> list[tuple[str, str]]:
        """Group and name of every corpus."""
        return [(group, name) for group, names in self.groups.items() for name in names]

    def directions(self) -> list[tuple[str, str, str]]:
        """Source language, target language and tag, both ways."""
        first, second = self.languages
        return [(first, second, self.tags[1]), (second, first, self.tags[0])]


def read_recipe(path: Path) -> Recipe:
    """Reads recipe.toml; any mistake is one line that names the file and the key."""
    values = read_toml(path)
    for name in SHARED:
        shared = read_toml(Path(__file__).with_name(f"{name}.toml"))
        values[name] = _merged(shared, values.get(name, {}))
    try:
        recipe = from_dict(Recipe, values)
        for name in RUNS:
            _check(name, getattr(recipe, name))
    except SieveError as error:
        raise ConfigError(f"{path}: {error}") from None
    return recipe


def _merged(shared: Mapping[str, Any], own: Any) -> Any:
    """A section's keys over those that all pairs share."""
    if not isinstance(own, Mapping) or not isinstance(shared, Mapping):
        return own
    merged = {key: _merged(value, own.get(key, value)) for key, value in shared.items()}
    return {**merged, **{key: value for key, value in own.items() if key not in shared}}


def _check(name: str, run: Run) -> None:
    """A typing error shows before the first stage, not hours later before this one."""
    from sieve.train.config import parse_run_config  # imports torch

    try:
        # a linear schedule needs an end, which may come from [budgets]
        course = {"max_updates": 1, **run.training}
        parse_run_config({"model": run.model, "training": course})
    except ConfigError as error:
        raise ConfigError(f"[{name}] {error}") from None
