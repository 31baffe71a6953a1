"""Plain text: lines stay lines, and nothing but their words changes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.documents import read_document, translate_document
from sieve.translate.translator import Translator


@pytest.mark.parametrize(
    "document",
    ["", "\n", "bda", "bda\nfga\n",
     "  bda\t\r\n\r\n\tfga. Kla!  Bda\n", "12 %\n---\n", "a\x0cb\u2028c"],
)  # fmt: skip
def test_a_copier_changes_nothing(copier: Translator, document: str) -> None:
    assert translate_document(copier, document, "text") == document


def test_sentences_are_translated_one_by_one() -> None:
    assert read_document("Bda fga.  Kla?\n\nBda", "text").sentences == ["Bda fga.", "Kla?", "Bda"]


@given(document=st.text(alphabet="ab .\n\r\t!A1é\u3000\x00", max_size=60))
def test_lines_and_letters_stay(copier: Translator, document: str) -> None:
    found = translate_document(copier, document, "text")
    assert re.sub(r"[^\n\r]", "", found) == re.sub(r"[^\n\r]", "", document)
    assert re.sub(r"[\s\x00]", "", found) == re.sub(r"[\s\x00]", "", document)
