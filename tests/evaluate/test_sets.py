from pathlib import Path

import pytest

from sieve.errors import InputError
from sieve.evaluate.measure.sets import ParallelSet, check_languages, read_set

LANGUAGES = ("en", "de")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "news.en-de.en").write_text("One.\nTwo.\n")
    (tmp_path / "news.en-de.de").write_text("Eins.\nZwei.\n")
    return tmp_path


@pytest.mark.parametrize(
    ("argument", "name"),
    [
        ("{}/news.en-de", "news"),
        ("mine={}/news.en-de", "mine"),
        ("{}/news.en-de.en,{}/news.en-de.de", "news"),
        ("wmt=19={}/news.en-de.en,{}/news.en-de.de", "wmt=19"),
    ],
)
def test_ways_to_name_a_set(folder: Path, argument: str, name: str) -> None:
    found = read_set(argument.replace("{}", str(folder)), LANGUAGES)
    assert found == ParallelSet(name, ("One.", "Two."), ("Eins.", "Zwei."))
    assert found.first(1).references == ("Eins.",)
    assert found.first(None) is found


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("{}/new", "new.en not found; expected a prefix of .en and .de files"),
        ("a=b.en,", "expected NAME=SRC,TGT with two files"),
        ("a,b,c", "expected NAME=SRC,TGT with two files"),
        ("{}/news.en-de.en,{}/nothing", "nothing: cannot be read: No such file or directory"),
        ("{}/news.en-de.en,{}/three", "has 2 lines and .*three 3, expected as many"),
        ("{}/empty,{}/empty", "empty: is empty, expected at least one line"),
        ("{}/news.en-de.en,{}/gap", "gap, line 2: the reference is empty, expected a sentence"),
        ("{}/gap,{}/news.en-de.de", "gap, line 2: the source is empty"),
    ],
)
def test_what_cannot_be_read(folder: Path, argument: str, message: str) -> None:
    (folder / "three").write_text("a\nb\nc\n")
    (folder / "empty").write_text("")
    (folder / "gap").write_text("a\n  \n")
    with pytest.raises(InputError, match=message):
        read_set(argument.replace("{}", str(folder)), LANGUAGES)


def test_a_prefix_needs_languages(folder: Path) -> None:
    with pytest.raises(InputError, match="does not say its languages; expected NAME=SRC,TGT"):
        read_set(f"{folder}/news.en-de", ("", ""))


ENGLISH = ("The weather will be fine tomorrow in most parts of the country.",) * 10
GERMAN = ("Das Wetter wird morgen in den meisten Teilen des Landes schön.",) * 10


def test_a_set_in_the_wrong_language() -> None:
    pytest.importorskip("py3langid")
    right = ParallelSet("news", ENGLISH, GERMAN)
    check_languages(right, LANGUAGES)
    check_languages(right, ("xx", "yy"))  # nobody knows these
    turned = ParallelSet("news", GERMAN, ENGLISH)
    with pytest.raises(InputError, match="test set news: 0 % of the source lines look like 'en'"):
        check_languages(turned, LANGUAGES)
    check_languages(turned.first(3), LANGUAGES)  # too few to say
    with pytest.raises(InputError, match="0 % of the reference lines look like 'de'"):
        check_languages(ParallelSet("news", ENGLISH, ENGLISH), LANGUAGES)
