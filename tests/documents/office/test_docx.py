"""Word documents through translators that copy, in other capitals or backwards."""

import io
import re
import zipfile

import pytest
from echo import echo, swapped
from packages import member, runs, word

from sieve.documents import translate_bytes
from sieve.translate.translator import Translator

BODIES = [
    "<w:p><w:r><w:t>bda</w:t></w:r></w:p>",
    "<w:p/><w:p><w:pPr><w:jc/></w:pPr></w:p>",
    f"<w:p><w:pPr><w:b/></w:pPr>{runs('bda ', 'b:fga', ' kla')}</w:p>",
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>bda &amp; fga</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
    f"<w:p>{runs('bd')}<w:proofErr/>{runs('a fga')}</w:p>",
    "<w:p><w:r><w:t>bda</w:t><w:tab/><w:t>fga</w:t><w:br/><w:t>kla</w:t></w:r></w:p>",
    f"<w:p><w:hyperlink w:id='1'>{runs('bda', 'b:fga')}</w:hyperlink></w:p>",
    f"<w:p>{runs('bda ')}<m:oMath><m:t>x+1</m:t></m:oMath>{runs(' fga')}</w:p>",
    f"<w:p>{runs('bda')}<w:del><w:r><w:delText>fga</w:delText></w:r></w:del></w:p>",
    "<w:p><w:r><w:t><![CDATA[bda <]]></w:t></w:r><!-- fga --></w:p>",
]


def body(data: bytes) -> str:
    """What stands in the body of a document."""
    return member(data, "word/document.xml").partition("<w:body>")[2].partition("</w:body>")[0]


def look(data: bytes) -> list[tuple[str, str]]:
    """Texts of a document and what their runs look like."""
    return [
        (match[1] or "", match[2])
        for match in re.finditer(
            r"<w:r>(?:<w:rPr><w:(\w+)/></w:rPr>)?<w:t[^>]*>([^<]*)</w:t></w:r>", body(data)
        )
    ]


def through(translator: Translator, *paragraph: str) -> bytes:
    return translate_bytes(translator, word(f"<w:p>{''.join(paragraph)}</w:p>"))


@pytest.mark.parametrize("text", BODIES)
def test_a_copier_changes_nothing(text: str) -> None:
    document = word(text)
    with (
        zipfile.ZipFile(io.BytesIO(document)) as before,
        zipfile.ZipFile(io.BytesIO(translate_bytes(echo(), document))) as after,
    ):
        assert before.namelist() == after.namelist()
        assert [info.date_time for info in before.infolist()] == [
            info.date_time for info in after.infolist()
        ]
        for name in before.namelist():
            assert before.read(name) == after.read(name)


def test_looks_follow_their_words() -> None:
    document = through(echo(backwards=True), runs("bda fga ", "b:kla", " mla"))
    assert look(document) == [("", "mla "), ("b", "kla"), ("", " fga bda")]


def test_the_look_of_most_letters_is_that_of_the_paragraph() -> None:
    document = through(echo(swapped), runs("b:bda fga", " kla"))
    assert look(document) == [("b", "BDA FGA "), ("", "KLA")]


def test_runs_that_look_the_same_are_one_sentence() -> None:
    noise = '<w:r w:rsidR="1"><w:rPr><w:lang w:val="en-US"/></w:rPr><w:t>d</w:t></w:r>'
    document = through(echo(swapped), runs("b"), "<w:proofErr/>", noise, runs("a"))
    assert look(document) == [("", "BDA")]


def test_what_is_no_text_stays_where_it_belongs() -> None:
    note = '<w:r><w:footnoteReference w:id="1"/></w:r>'
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>seven</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    document = through(echo(swapped), runs("bda"), note, runs(" fga "), field, runs(" kla"))
    assert body(document).replace(field, "[field]").replace(note, "[note]") == (
        f"<w:p>{runs('BDA')}[note]{runs(' FGA ')}[field]{runs(' KLA')}</w:p>"
    )


def test_a_link_holds_its_words() -> None:
    document = through(
        echo(backwards=True), runs("bda "), f"<w:hyperlink>{runs('fga')}</w:hyperlink>"
    )
    assert body(document) == f"<w:p><w:hyperlink>{runs('fga')}</w:hyperlink>{runs(' bda')}</w:p>"


def test_sentences_do_not_go_over_tabs_and_breaks() -> None:
    tab = "<w:r><w:tab/></w:r>"
    document = through(echo(backwards=True), runs("bda fga"), tab, runs("kla mla"))
    assert body(document) == f"<w:p>{runs('fga bda')}{tab}{runs('mla kla')}</w:p>"


def test_text_boxes_and_the_texts_of_pictures_are_translated() -> None:
    box = f"<w:drawing><wp:docPr descr='bda \"'/><w:txbx><w:p>{runs('fga')}</w:p></w:txbx></w:drawing>"  # noqa: E501
    for around in ("", runs("kla")):
        document = body(through(echo(swapped), around, f"<w:r>{box}</w:r>"))
        assert "descr='BDA &quot;'" in document
        assert f"<w:txbx><w:p>{runs('FGA')}</w:p></w:txbx>" in document


def test_headers_and_notes_are_parts_of_their_own() -> None:
    header = f'<w:hdr xmlns:w="x">{runs("bda")}</w:hdr>'
    header = header.replace('"x"', '"http://purl.oclc.org/ooxml/wordprocessingml/main"')
    header = header.replace("<w:r>", "<w:p><w:r>", 1).replace("</w:hdr>", "</w:p></w:hdr>")
    document = translate_bytes(echo(swapped), word("", header=header))
    assert "BDA" in member(document, "word/header.xml")
