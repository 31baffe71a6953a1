"""Tags in sentences whose words change places, with the models that ship."""

import re

import pytest
from reordered import DE_EN, EN_DE, Probe

import sieve
from sieve.bundle.catalogue import built_in
from sieve.documents import translate_document
from sieve.translate.translator import Translator

ENOUGH = 0.9


def is_right(translator: Translator, probe: Probe) -> bool:
    """Whether every tag holds the words it must."""
    text = translate_document(translator, probe.source, "html")
    found = {tag: re.findall(f"<{tag}>(.*?)</{tag}>", text) for tag in probe.expected}
    return all(
        len(found[tag]) == 1 and re.fullmatch(pattern, found[tag][0].strip(" ,.!?"), re.IGNORECASE)
        for tag, pattern in probe.expected.items()
    )


def test_tags_follow_their_words() -> None:
    if not {"en-de", "de-en"} <= set(built_in()):
        pytest.skip("the models en-de and de-en are not here")
    wrong = [
        probe.source
        for name, probes in (("en-de", EN_DE), ("de-en", DE_EN))
        for probe in probes
        if not is_right(sieve.load(name), probe)
    ]
    number = len(EN_DE) + len(DE_EN)
    assert number == 50
    assert len(wrong) <= (1 - ENOUGH) * number, wrong
