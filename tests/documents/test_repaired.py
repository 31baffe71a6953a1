"""What holds in lines holds in documents: numbers, placeholders, glossaries; a real model."""

import io
import re

import pytest
from packages import member, runs, word

import sieve
from sieve.bundle.catalogue import built_in
from sieve.documents import Document, translate_bytes, translate_stream
from sieve.documents.recognition import named
from sieve.engines.options import SearchOptions
from sieve.repair.glossary import Glossary
from sieve.translate.translation import Request

pytestmark = pytest.mark.skipif("en-de" not in built_in(), reason="the model en-de is not here")


def text(data: bytes) -> str:
    return re.sub(r"<[^>]*>", "", member(data, "word/document.xml"))


def test_numbers_and_placeholders() -> None:
    document = word(f"<w:p>{runs('Hello {name}, ', 'b:12,345', ' people live in %s.')}</w:p>")
    out = translate_bytes(sieve.load("en-de"), document)
    assert "{name}" in text(out) and "%s" in text(out)
    assert re.search(r"<w:b/></w:rPr><w:t[^>]*>[^<]*12[.,]345<", member(out, "word/document.xml"))


def test_a_glossary() -> None:
    translator = sieve.load("en-de")
    request = Request(
        options=SearchOptions(), glossary=Glossary((("report", "Dossier"),)), force_glossary=True
    )

    def answer(document: Document) -> list[sieve.Translation]:
        return document.translations(request, translator.run)

    source = io.BytesIO(word(f"<w:p>{runs('She read the ', 'b:report', '.')}</w:p>"))
    out = io.BytesIO()
    translate_stream(source, out, named("docx"), (translator, answer))
    assert "Dossier" in text(out.getvalue())
