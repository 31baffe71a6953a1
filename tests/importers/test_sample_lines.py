"""Built-in lines: enough that stays the same on both sides, and never the same line twice."""

import re

import pytest

from sieve.importers.alignment.attention_choice import LEAST
from sieve.importers.alignment.sample_lines import sample_lines

LANGUAGES = ["en", "de", "fr", "es", "pt", "it", "nl", "sv", "pl", "cs", "ru", "uk", "zh", "ja"]


@pytest.mark.parametrize("language", [*LANGUAGES, "tlh"])
def test_lines_have_names_and_numbers_to_align(language: str) -> None:
    sample = sample_lines(language)
    assert len(sample.lines) == len(set(sample.lines)) in (35, 42)
    assert not any(re.search(r"[{}]", line) for line in sample.lines)
    numbers = sum(len(re.findall(r"\d+", line)) for line in sample.lines)
    assert numbers > 3 * LEAST


def test_which_lines_belong_to_a_language() -> None:
    assert sample_lines("pt-BR").lines == sample_lines("pt_PT").lines == sample_lines("pt").lines
    assert sample_lines("pt").lines[0] == (
        "Em 14 de março de 1987, Maria Silva mudou-se de Oslo para Nairobi."
    )
    assert sample_lines("pt").kind == "built-in, pt"
    assert sample_lines("").kind == sample_lines("tlh").kind == "built-in, names and numbers"
    assert sample_lines("ca").lines[0] == "Maria Silva, Oslo: 14 / 1987"
