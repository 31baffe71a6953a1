"""Hard sentence boundaries in five languages: the gold set must hold, line by line."""

from pathlib import Path

import pytest

from sieve.segment.sentences import divided, sentences

GOLD = [
    line.split("\t", 1)
    for line in Path(__file__).with_name("boundaries.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
KNOWN_MISSES = 10
"""Lines that no rule here gets right, such as `Meier GmbH u. Co. KG`."""


def boundaries(parts: list[str]) -> list[str]:
    return [part.strip() for part in parts if part.strip()]


def test_the_set_is_whole() -> None:
    counts = {
        code: sum(line[0] == code for line in GOLD) for code in ("en", "de", "fr", "pt", "ru")
    }
    assert counts == dict.fromkeys(counts, 60)


def test_boundaries_of_each_language() -> None:
    wrong = [
        text
        for language, text in GOLD
        if boundaries(sentences(text.replace("¶", ""), language)) != boundaries(text.split("¶"))
    ]
    assert len(wrong) <= KNOWN_MISSES, wrong


@pytest.mark.parametrize("language", ["en", "de", "fr", "pt", "ru", "", "xx", "pt-BR"])
def test_nothing_is_lost(language: str) -> None:
    for _, marked in GOLD:
        text = marked.replace("¶", "")
        assert "".join(sentences(text, language)) == text
        assert "".join(divided(text, len, 20, language)) == text


def test_titles_do_not_end_sentences_whatever_the_language() -> None:
    text = "Dr. Miller met Prof. Lee. They talked."
    assert sentences(text) == ["Dr. Miller met Prof. Lee. ", "They talked."]
