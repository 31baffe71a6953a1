"""A table as text: for a terminal, or as Markdown. Does not know what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Text in rows and columns, and what is to be said about it."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def as_text(self) -> str:
        """Columns aligned for a terminal: the first to the left, numbers to the right."""
        lines = [self.headers, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [
            "  ".join(
                cell.rjust(width) if place else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self.title, *shown, *(f"  {note}" for note in self.notes)]) + "\n"

    def as_markdown(self) -> str:
        """A heading, a table, and the notes as a list."""
        lines = [f"### {self.title}", "", _markdown_row(self.headers)]
        lines.append(_markdown_row(["---", *["---:"] * (len(self.headers) - 1)]))
        lines += [_markdown_row(row) for row in self.rows]
        return "\n".join([*lines, "", *(f"- {_escaped(note)}" for note in self.notes)]) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escaped(cell.strip()) for cell in cells) + " |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")
