"""What the sections of docs/results.md share: reading JSON, writing Markdown tables."""

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "docs" / "results"
Json = dict[str, Any]

SETTLED = (
    "The built-in models were *settled*: the head shaped the encoder, the decoder was penalised "
    "for probability outside the head's shortlists, and the logits were multiplied by 1.2 after a "
    "look at newstest2019. So *same outputs* favours the head over a lexicon here; a comparison on "
    "a model that no selection shaped is [the fair one](fair-comparison.md)."
)
"""Stands beside every share of equal outputs of a built-in model."""
BUILT_IN = ("en-de", "de-en")


def read(name: str, folder: Path = RESULTS) -> Json:
    """One measurement."""
    found: Json = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return found


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A Markdown table."""
    lines = [headers, ["---"] * len(headers), *rows]
    return [
        "|" + "---|" * len(headers) if place == 1 else _row(line)
        for place, line in enumerate(lines)
    ]


def _row(cells: Sequence[object]) -> str:
    shown = [str(cell).replace("|", "\\|") for cell in cells]
    return "".join(f"| {cell} " if cell else "| " for cell in shown) + "|"


def bold(cells: Iterable[object]) -> list[str]:
    return [f"**{cell}**" for cell in cells]


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}"


def thousands(number: float) -> str:
    return f"{number:,.0f}"


def write_page(
    page: Path, text: str, description: str | None, draw: Callable[[], None] = lambda: None
) -> int:
    """The command of a rendered page: writes it and its pictures, or checks it; the exit code."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    if not parser.parse_args().check:
        page.write_text(text, encoding="utf-8")
        draw()
    elif page.read_text(encoding="utf-8") != text:
        print(f"{page.name} is not what the files give: write it without --check")
        return 1
    return 0
