"""Licences of what Sieve stands on: every package is listed, and none is of another kind."""

import re
from pathlib import Path

import licences
import pytest


def test_every_direct_dependency_is_listed_with_its_licence() -> None:
    rows = licences.recorded()
    for extra, names in licences.direct().items():
        for name in names:
            assert rows.get(name) not in (None, "unknown", "not declared"), (extra, name)


def test_nothing_under_another_licence_is_installed() -> None:
    assert list(licences.faults()) == []


@pytest.mark.parametrize(
    ("said", "allowed"),
    [
        ("MIT", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("BSD License", True),
        ("AGPL-3.0", False),
        ("GNU General Public License v3 (GPLv3)", False),
        ("MIT, GPL-2.0", False),
        ("not declared", False),
    ],
)
def test_kinds(said: str, allowed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(licences, "declared", lambda name: said if name == "tqdm" else None)
    assert any(fault.startswith("tqdm: ") for fault in licences.faults()) is not allowed


def test_a_package_without_a_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = re.sub(r"^\| tqdm .*\n", "", licences.PAGE.read_text("utf-8"), flags=re.MULTILINE)
    (tmp_path / "page.md").write_text(page, "utf-8")
    monkeypatch.setattr(licences, "PAGE", tmp_path / "page.md")
    assert "tqdm: not in THIRD_PARTY.md; run python release/licences.py --write" in [
        *licences.faults()
    ]
