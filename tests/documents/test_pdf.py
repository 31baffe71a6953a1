"""The text of PDF files: paragraphs from lines, out as text or as Word."""

import io
import sys

import pytest
from echo import echo, swapped
from packages import member
from small_pdf import pdf

from sieve.documents import FORMATS, translate_bytes, translate_stream
from sieve.documents.pdf import paragraphs
from sieve.documents.streaming import answering
from sieve.errors import ConfigError, InputError, MissingExtraError

LINES = ["Bda fga kla mla bda", "fga trans-", "lated now.", "Kla mla bda fga bda kla mla"]


def test_paragraphs_become_text() -> None:
    pytest.importorskip("pypdf")
    assert translate_bytes(echo(swapped), pdf(LINES)).decode() == (
        "bDA FGA KLA MLA BDA FGA TRANSLATED NOW.\n\nkLA MLA BDA FGA BDA KLA MLA\n\n"
    )


def test_paragraphs_become_a_word_document() -> None:
    pytest.importorskip("pypdf")
    translator, out = echo(swapped), io.BytesIO()
    kind = FORMATS["pdf"].named("a.docx")
    by = (translator, answering(translator))
    translate_stream(io.BytesIO(pdf(["Bda < fga"])), out, kind, by)
    text = '<w:p><w:r><w:t xml:space="preserve">bDA &lt; FGA</w:t></w:r></w:p>'
    assert text in member(out.getvalue(), "word/document.xml")
    assert translate_bytes(echo(), out.getvalue()) == out.getvalue()  # can be read


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], []),
        (["a", "", "b"], ["a", "b"]),
        (["one two three", "four."], ["one two three four."]),
        (["- a", "- b"], ["- a", "- b"]),
        (["well-", "Known"], ["well- Known"]),
        (["A short one.", "A line that is much wider than that."],
         ["A short one.", "A line that is much wider than that."]),
    ],
)  # fmt: skip
def test_paragraphs(lines: list[str], expected: list[str]) -> None:
    assert [*paragraphs(lines)] == expected


def test_a_pdf_is_not_written() -> None:
    with pytest.raises(
        ConfigError, match=r"^b\.pdf: pdf cannot be written; name it \.docx or \.txt$"
    ):
        FORMATS["pdf"].named("b.pdf")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pdf([]), "a: holds no text; scanned pages must be read by an OCR program first"),
        (b"%PDF-1.4\n", "a: is no readable PDF: "),
        (pdf(LINES)[:300], "a: is no readable PDF: "),
    ],
)
def test_what_is_refused(data: bytes, message: str) -> None:
    pytest.importorskip("pypdf")
    with pytest.raises(InputError, match=f"^{message}"):
        translate_bytes(echo(), data, "a")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    message = (
        r"^reading PDF needs pypdf, which is not installed: pip install 'sieve-nmt\[documents\]'$"
    )
    with pytest.raises(MissingExtraError, match=message):
        translate_bytes(echo(), pdf(LINES), "a")
