"""The weights have terms of their own, and every source is named under its licence."""

import re
from pathlib import Path

import pytest

from sieve.bundle.catalogue import catalogue
from sieve.config import read_toml

ROOT = Path(__file__).parents[2]
NOTICE = (ROOT / "models" / "NOTICE").read_text(encoding="utf-8")
CARDS = sorted((ROOT / "models").glob("*/MODEL_CARD.md"))
ROW = re.compile(r"^\| ([a-z0-9-]+) \| [\d,]+ \| ([^|]+) \|$", re.MULTILINE)


def entries() -> dict[str, str]:
    """The paragraphs of the notice by the corpus they are of."""
    parts = re.split(r"^(?=[a-z0-9-]+$)", NOTICE, flags=re.MULTILINE)[1:]
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


@pytest.mark.parametrize("card", CARDS, ids=lambda path: path.parent.name)
def test_every_source_of_a_model_is_named_with_its_licence(card: Path) -> None:
    rows = ROW.findall(card.read_text(encoding="utf-8"))
    assert len(rows) == 14
    for corpus, licence in rows:
        own = "Reuse is free" if corpus == "europarl" else licence.strip()
        assert own in entries()[corpus], corpus


def test_nothing_is_named_that_no_model_learnt_from() -> None:
    named = {corpus for card in CARDS for corpus, _ in ROW.findall(card.read_text("utf-8"))}
    assert entries().keys() == named


def test_attribution_where_it_is_asked_for() -> None:
    for corpus, text in entries().items():
        if "CC-BY" in text:
            assert "https://creativecommons.org/licenses/by" in text, corpus
            assert "(c)" in text or "contributors" in text, corpus
    assert "All of them were changed before training" in " ".join(NOTICE.split())


def test_the_metadata_names_both_licences() -> None:
    project = read_toml(ROOT / "pyproject.toml")["project"]
    assert project["license"] == "Apache-2.0 AND LicenseRef-Sieve-Weights"
    assert project["license-files"] == ["LICENSE", "models/LICENSE", "models/NOTICE"]
    assert all((ROOT / name).is_file() for name in project["license-files"])


def test_the_catalogue_sends_readers_there() -> None:
    own = [entry for entry in catalogue() if entry.kind == "built-in"]
    assert own and all("models/LICENSE" in entry.licence for entry in own)
