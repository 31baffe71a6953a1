"""What a release says of itself is the same everywhere: version, date, names on their way out."""

import re
from importlib import metadata
from pathlib import Path

import pytest

import sieve
from sieve.cli.main import main
from sieve.config import read_toml

ROOT = Path(__file__).parents[1]
VERSION = read_toml(ROOT / "pyproject.toml")["project"]["version"]
RELEASE = re.compile(r"^## \[([\d.]+)\] - (\d{4}-\d\d-\d\d)$", re.MULTILINE)


def released() -> list[tuple[str, str]]:
    """Version and date of each release of the changelog, the newest first."""
    return RELEASE.findall((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


def test_one_version(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"sieve {VERSION}\n"

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert sieve.__version__ == f"{VERSION}+source"


def test_the_changelog_and_the_citation_say_the_same() -> None:
    newest, date = released()[0]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert newest == VERSION
    assert f"\nversion: {VERSION}\ndate-released: {date}\n" in citation


def test_releases_are_in_order() -> None:
    numbers = [tuple(map(int, version.split("."))) for version, _ in released()]
    dates = [date for _, date in released()]
    assert numbers == sorted(numbers, reverse=True)
    assert dates == sorted(dates, reverse=True)


def test_old_names_are_listed_where_they_warn() -> None:
    page = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    names = [pair for text in sources for pair in re.findall(r'renamed\("(.*?)", "(.*?)"\)', text)]
    assert len(names) == 3
    for old, new in names:
        assert re.search(rf"\| `[^`]*{re.escape(old)}[^`]*` \| `[^`]*{re.escape(new)}", page), old
