"""Glossaries: what is found, in which case, and what is no glossary."""

from pathlib import Path

import pytest

from sieve.errors import InputError
from sieve.repair.glossary import Glossary, Match

ENTRIES = Glossary(
    (("cabinet", "Rat"), ("new law", "neues Gesetz"), ("law", "Recht"), ("May", "May"))
)


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("the cabinet", ["Rat"]),
        ("Cabinet of laws", ["Rat"]),
        ("THE CABINET", ["RAT"]),
        ("a new  law, the law", ["neues Gesetz", "Recht"]),
        ("New law here", ["Neues Gesetz"]),
        ("a New law", ["neues Gesetz"]),
        ("May may MAY", ["May"]),
        ("cabinets lawless", []),
        ("", []),
    ],
)
def test_what_is_found(text: str, targets: list[str]) -> None:
    assert [match.target for match in ENTRIES.find(text)] == targets


def test_places() -> None:
    assert ENTRIES.find("the law, May!") == [Match(4, 7, "Recht"), Match(9, 12, "May")]
    assert Glossary(()).find("anything") == []


def test_signs_are_no_patterns() -> None:
    assert [m.target for m in Glossary((("c++ (new)", "C"),)).find("in C++ (NEW) now")] == ["C"]


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text("cabinet\t Rat \n\nnew  law\tneues Gesetz\n")
    assert Glossary.read(path).entries == (("cabinet", "Rat"), ("new law", "neues Gesetz"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("cabinet\n", "line 1: got 1 fields, expected a phrase, a tab"),
        ("a\tb\nc\td\te\n", "line 2: got 3 fields"),
        ("a\t\n", "line 1: got 2 fields"),
        ("a\tb\nb\tc\na\td\n", "line 3: 'a' already stands in line 1"),
    ],
)
def test_no_glossary(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        Glossary.read(path)
