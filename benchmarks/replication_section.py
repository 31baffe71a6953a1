"""What the sections of docs/replication.md share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from results_common import RESULTS, Json, read

CONFIRMED, NOT_CONFIRMED, NOT_COMPARABLE = "confirmed", "not confirmed", "not comparable"


@dataclass(frozen=True)
class Section:
    """A table or figure of the paper."""

    title: str
    claim: str
    """What the paper concludes from it."""
    verdict: str
    because: str
    """The numbers that decide, in a sentence."""
    table: Sequence[str]
    differs: str
    files: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Markdown."""
        yield f"## {self.title}"
        yield f"The paper: {self.claim}"
        yield ""
        yield f"**{self.verdict.capitalize()}.** {self.because}"
        yield ""
        yield from self.table
        yield ""
        if self.differs:
            yield f"What differs besides: {self.differs}"
            yield ""
        for name in self.files:
            yield f"- `{name}.json`: `{command(read(name))}`"


def recorded(*names: str) -> tuple[str, ...]:
    """Those of the files that are there: some measurements wait for a quiet machine."""
    return tuple(name for name in names if (RESULTS / f"{name}.json").is_file())


def command(content: Json) -> str:
    """What wrote a file."""
    return str(content.get("command") or "; ".join(content.get("commands", ())))


def verdict(holds: bool) -> str:
    """Of a claim that was tested."""
    return CONFIRMED if holds else NOT_CONFIRMED


def both(published: float | str, ours: str) -> str:
    """A cell: the paper's number and ours."""
    return f"{published} / {ours}"


def points(difference: float) -> str:
    """Percentage points, signed."""
    return f"{100 * difference:+.1f}"
