"""Names that a translation misspells or loses."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.bundle.directory import NAMES_FILE
from sieve.errors import ModelError
from sieve.files import write_tensors
from sieve.repair.draft import Draft
from sieve.repair.names import Names
from sieve.repair.word_set import WordSet

FROM_ENGLISH = Names(
    translated_source=WordSet.of(["moscow", "university", "the", "visited", "summer"], 20)
)
FROM_GERMAN = Names(
    known_target=WordSet.of(["francis", "september", "the", "pope"], 20),
    copied_source=WordSet.of(["Müller", "Trump"], 20),
)

MISSPELT = [
    ("Emmanuel Macron spoke.", "Emmanuel Makron sprach.", "Emmanuel Macron sprach."),
    ("In Regensburg and Viersen", "In Regenburg und Wieersen", "In Regensburg und Viersen"),
    ("Scotney, Scotney", "Schottney, Schottney", "Scotney, Scotney"),
    ("The IAAF met.", "Die IAF tagte.", "Die IAAF tagte."),
]
ENGLISH_LEFT = [
    ("He went to Moscow.", "Er ging nach Moskau."),  # known to be translated
    ("Summer University", "Sommer Universität"),
    ("Macron's wife", "Macrons Frau"),  # contains it
    ("EMMANUEL MACRON", "EMMANUEL MAKRON"),
    ("Macron came.", "Er kam."),  # nothing like it
    ("They met Ann.", "Sie trafen Anne."),  # too short to be sure
    ("Makron met Macrun", "Makron traf Macrun"),  # there already
    ("a macron", "ein Makron"),  # not a name
    ("The Carolingians", "Die Karolinger"),  # one word in two languages
    ("The Habsburgs in Babylonia", "Die Habsburger in Babylonien"),
    ("Apoptosis", "Apoptose"),
]


def put_right(names: Names, source: str, written: str) -> str:
    return names.put_right(source, Draft(written)).text


@pytest.mark.parametrize(("source", "written", "expected"), MISSPELT)
def test_puts_right(source: str, written: str, expected: str) -> None:
    assert put_right(FROM_ENGLISH, source, written) == expected


@pytest.mark.parametrize(("source", "written"), ENGLISH_LEFT)
def test_leaves_alone(source: str, written: str) -> None:
    assert put_right(FROM_ENGLISH, source, written) == written


@pytest.mark.parametrize(
    ("source", "written", "expected"),
    [
        ("Er traf Wolodymyr.", "He met Wolodymy.", "He met Wolodymyr."),
        ("Papst Franziskus", "The Pope Francis", None),  # an English word
        ("Neymars Tore", "The goals of Neymar", None),  # with an ending
        ("Die Septemberausgabe", "The September issue", None),
        ("Kommt ihr aus Kyōto?", "Do you come from Kyoto?", "Do you come from Kyōto?"),
        ("Macrons kamen", "Makrons came", None),  # any first word has a capital
    ],
)
def test_from_german(source: str, written: str, expected: str | None) -> None:
    assert put_right(FROM_GERMAN, source, written) == (expected or written)


def test_lost() -> None:
    assert FROM_ENGLISH.lost("We met Viersen in Moscow.", "Wir trafen Wien.") == ["Viersen"]
    assert FROM_ENGLISH.lost("We met Viersen.", "Wir trafen Viersens.") == []
    assert FROM_ENGLISH.lost("Unscrew the Abc", "Schraub es auf") == []  # first, or too short
    assert FROM_ENGLISH.lost("WE MET VIERSEN", "WIR TRAFEN WIEN") == []
    assert FROM_GERMAN.lost("Ich heiße Müller, Herr Wirt.", "My name is garbage.") == ["Müller"]
    assert FROM_GERMAN.lost("In Trump", "In Trumpen") == []
    assert FROM_GERMAN.lost("Die Stadt Trump", "The city of Trompe") == []  # another form of it
    assert FROM_ENGLISH.lost("How The University Visited Treehouse", "Wie die Universität") == []
    assert FROM_ENGLISH.lost("Emmanuel Macron visited Viersen", "Er kam") == ["Macron", "Viersen"]
    assert FROM_ENGLISH.lost("the union Verdi", "die Verdirects") == ["Verdi"]
    assert Names().lost("We met Viersen.", "Wir trafen Wien.") == []
    assert put_right(Names(), "We met Macron.", "Wir trafen Makron.") == "Wir trafen Makron."


@given(st.text("aAbB kM'-.1", max_size=40), st.text("aAbB kM'-.1", max_size=40))
def test_any_text(source: str, translation: str) -> None:
    for names in (FROM_ENGLISH, FROM_GERMAN):
        found = put_right(names, source, translation)
        assert put_right(names, source, found) == found
        assert all(word in source for word in names.lost(source, found))


def test_on_disk(tmp_path: Path) -> None:
    FROM_GERMAN.save(tmp_path)
    opened = Names.open(tmp_path)
    assert opened.translated_source is None
    assert opened.copied_source is not None and "Trump" in opened.copied_source
    assert opened.known_target is not None and "Trump" not in opened.known_target
    (tmp_path / NAMES_FILE).unlink()
    assert Names.open(tmp_path).lost("We met Viersen.", "") == []


@pytest.mark.parametrize(
    ("tensors", "note", "expected"),
    [
        ({"known_target": np.zeros(8, np.uint8)}, {}, "expected {'format': 'sieve names 1'}"),
        ({"known": np.zeros(8, np.uint8)}, None, "got known as uint8 (8,), expected some of"),
        ({"known_target": np.zeros(8, np.int32)}, None, "got known_target as int32 (8,)"),
        ({"known_target": np.zeros(0, np.uint8)}, None, "got known_target as uint8 (0,)"),
        ({"known_target": np.zeros((8, 1), np.uint8)}, None, "got known_target as uint8 (8, 1)"),
    ],
)
def test_damaged(
    tmp_path: Path,
    tensors: dict[str, np.ndarray],
    note: dict[str, str] | None,
    expected: str,
) -> None:
    path = tmp_path / NAMES_FILE
    write_tensors(path, tensors, {"format": "sieve names 1"} if note is None else note)
    with pytest.raises(ModelError) as error:
        Names.open(tmp_path)
    assert str(error.value).startswith(f"{path}: got ") and expected in str(error.value)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(ModelError, match="not a readable safetensors file"):
        Names.open(tmp_path)
