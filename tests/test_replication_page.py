"""docs/replication.md is what the recorded measurements give, with a verdict that follows them."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
MODULES = (
    "replication",
    "replication_curves",
    "replication_idioms",
    "replication_models",
    "replication_picture",
    "replication_section",
)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("replication")
    for name in MODULES:
        sys.modules.pop(name, None)


def test_the_page_is_written_from_the_files() -> None:
    script = BENCHMARKS / "replication.py"
    done = subprocess.run(
        [sys.executable, "-W", "error", script, "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_table_and_figure_has_a_verdict(page: Any) -> None:
    titles = [section().title for section in page.SECTIONS]
    for number in range(1, 9):
        assert any(title.startswith(f"Table {number}:") for title in titles), number
    for number in (1, 3, 4, 5, 6, 7):  # 2 draws the model
        assert any(title.startswith("Figure") and str(number) in title for title in titles), number
    verdicts = {section().verdict for section in page.SECTIONS}
    assert verdicts <= {"confirmed", "not confirmed", "not comparable"}


def test_a_verdict_follows_the_numbers(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    idioms = importlib.import_module("replication_idioms")
    read = idioms.read

    def swapped(name: str) -> Any:
        """Idioms easier than sentences."""
        content = read(name)
        for row in content["against"]:
            if row["scope"] == idioms.ALONE:
                row["lexicon_recall"] = 1.0
        return content

    assert idioms.idioms().verdict == "confirmed"
    monkeypatch.setattr(idioms, "read", swapped)
    assert idioms.idioms().verdict == "not confirmed"
