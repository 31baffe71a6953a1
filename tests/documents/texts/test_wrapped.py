"""Hard-wrapped text through translators that copy."""

from echo import echo, swapped
from hypothesis import given
from hypothesis import strategies as st

from sieve.documents import read_document, translate_document

TEXT = """A Title

This is a paragraph that was wrapped at sixty columns, so that
it can be read anywhere.

  * The first point of a list is long enough for a second line
    of its own.
  * The next one is not.

> A quotation that was wrapped as well, with a mark at the start
> of every line.

Name:   A column
"""


def test_paragraphs_are_joined() -> None:
    assert read_document(TEXT, "wrapped").sentences == [
        "A Title",
        "This is a paragraph that was wrapped at sixty columns, so that it can be read anywhere.",
        "The first point of a list is long enough for a second line of its own.",
        "The next one is not.",
        "A quotation that was wrapped as well, with a mark at the start of every line.",
    ]


def test_and_wrapped_again() -> None:
    assert translate_document(echo(), TEXT, "wrapped") == TEXT
    expected = TEXT.swapcase().replace("nAME:   a COLUMN", "Name:   A column")
    assert translate_document(echo(swapped), TEXT, "wrapped") == expected


@given(document=st.text("ab.-*> \n\r\t1)é", max_size=80))
def test_made_up_texts(document: str) -> None:
    assert translate_document(echo(), document, "wrapped") == document
