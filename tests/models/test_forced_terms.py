"""Glossaries with a model that comes with the program."""

import pytest

import sieve
from sieve.bundle.catalogue import built_in
from sieve.repair.glossary import Glossary
from sieve.translate.translation import Request
from sieve.translate.translator import Translator

ENTRIES = (
    ("mat", "Fußmatte"),
    ("meeting", "Besprechung"),
    ("cabinet", "Regierungsrat"),
    ("new law", "Regelwerk"),
    ("xylograph", "Quorzifant"),
)
LINES = [
    "The cat sat on the mat.",
    "The cabinet met on Tuesday to discuss the new law.",
    "THE MEETING IS OVER",
    "Meeting the cabinet about the mat and the new law was fun.",
    "Nothing here.",
    "",
    "He bought a xylograph, but the meeting went on. " * 8,
]


@pytest.fixture(scope="module")
def translator() -> Translator:
    if "en-de" not in built_in():
        pytest.skip("the built-in model en-de is not here")
    return sieve.load("en-de", threads=1)


def test_forced_targets_appear(translator: Translator) -> None:
    glossary = Glossary(ENTRIES)
    request = Request(glossary=glossary, force_glossary=True)
    found = translator.run(LINES, request)
    plain = translator.run(LINES, Request())
    missing = 0
    for line, forced, usual in zip(LINES, found, plain, strict=True):
        for match in glossary.find(line):
            assert match.target.lower() in forced.text.lower(), forced.text
            missing += match.target.lower() not in usual.text.lower()
        if not glossary.find(line):
            assert forced == usual
    assert missing > 5  # else nothing was tested


def test_targets_are_reachable(translator: Translator) -> None:
    request = Request("nvs:0.999999", glossary=Glossary(ENTRIES), repair=False)
    with_tokens, without = (
        translator.run(LINES[:1], one)[0].shortlist_size
        for one in (request, Request("nvs:0.999999", repair=False))
    )
    assert with_tokens > without


def test_a_line_alone_or_among_others(translator: Translator) -> None:
    for force in (False, True):
        request = Request(glossary=Glossary(ENTRIES), force_glossary=force)
        together = translator.run(LINES, request)
        assert [translator.run([line], request)[0] for line in LINES] == together
