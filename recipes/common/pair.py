"""A language pair's data.toml: languages, tags, corpora."""

from dataclasses import dataclass, field
from pathlib import Path

from sieve.config import read_toml


@dataclass(frozen=True)
class Pair:
    """What is trained on, validated with and tested on."""

    languages: list[str]
    tags: list[str]
    """Before a source whose translation is wanted in the first, in the second language."""
    groups: dict[str, list[str]]
    """Corpora by group; a group is repeated as a whole in training."""
    validation: str
    tests: dict[str, list[str]]
    """Test sets to take along: name of a set, then its two languages in the file's name."""
    licences: dict[str, str] = field(default_factory=dict)
    """Of each corpus, for the models' cards."""
    borrowed: dict[str, str] = field(default_factory=dict)
    """Licences of corpora of another pair of which one side is used (borrow.py)."""
    repeats: dict[str, int] = field(default_factory=dict)
    """How often a group is trained on in an epoch."""
    first_part: dict[str, int] = field(default_factory=dict)
    """Of these corpora one block in so many goes to part 1, the others to part 2."""
    trusted: list[str] = field(default_factory=list)
    """Corpora whose languages are certain: names and equal sides (Radio, Radio) are no mistakes."""

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


def read_pair(path: Path) -> Pair:
    """Reads data.toml."""
    return Pair(**read_toml(path))
