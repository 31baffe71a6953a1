"""OpenDocument files through translators that copy."""

import pytest
from echo import echo, swapped
from packages import member, package

from sieve.documents import translate_bytes
from sieve.errors import InputError

HEAD = "<office:document-content " + " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{path}:1.0"'
    for name, path in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"),
        ("svg", "svg-compatible"),
    )
) + ">"  # fmt: skip
TAIL = "</office:document-content>"


def odf(content: str, kind: str = "text", manifest: str = "") -> bytes:
    return package(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": HEAD + content + TAIL,
            "META-INF/manifest.xml": manifest,
        }
    )


def content(data: bytes) -> str:
    return member(data, "content.xml").removeprefix(HEAD).removesuffix(TAIL)


def test_spans_follow_their_words() -> None:
    text = '<text:p text:style-name="a">bda <text:span text:style-name="b">fga</text:span></text:p>'
    assert content(translate_bytes(echo(), odf(text))) == text
    assert content(translate_bytes(echo(backwards=True), odf(text))) == (
        '<text:p text:style-name="a"><text:span text:style-name="b">fga</text:span> bda</text:p>'
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<text:p>bda<text:tab/>fga</text:p>", "<text:p>BDA<text:tab/>FGA</text:p>"),
        ("<text:h>bda<text:s/>fga</text:h>", "<text:h>BDA FGA</text:h>"),
        (
            "<text:p>bda<text:s text:c='4'/>fga</text:p>",
            "<text:p>BDA<text:s text:c='4'/>FGA</text:p>",
        ),
        (
            "<text:p>bda<text:note><text:note-body><text:p>fga</text:p></text:note-body></text:note></text:p>",
            "<text:p>BDA<text:note><text:note-body><text:p>FGA</text:p></text:note-body></text:note></text:p>",
        ),
        (
            "<text:p>bda <text:page-number>one</text:page-number></text:p>",
            "<text:p>BDA <text:page-number>one</text:page-number></text:p>",
        ),
        (
            "<text:p><draw:frame><svg:desc>bda</svg:desc></draw:frame></text:p>",
            "<text:p><draw:frame><svg:desc>BDA</svg:desc></draw:frame></text:p>",
        ),
        (
            "<text:tracked-changes><text:p>bda</text:p></text:tracked-changes>",
            "<text:tracked-changes><text:p>bda</text:p></text:tracked-changes>",
        ),
        (
            '<table:table-cell office:value-type="date"><text:p>May</text:p></table:table-cell>',
            '<table:table-cell office:value-type="date"><text:p>May</text:p></table:table-cell>',
        ),
    ],
)
def test_what_is_translated(text: str, expected: str) -> None:
    assert content(translate_bytes(echo(swapped), odf(text))) == expected


@pytest.mark.parametrize("kind", ["text", "presentation", "spreadsheet", "text-template"])
def test_kinds(kind: str) -> None:
    text = "<text:p>bda</text:p>"
    assert content(translate_bytes(echo(swapped), odf(text, kind))) == "<text:p>BDA</text:p>"


def test_a_password_is_refused() -> None:
    document = odf("", manifest="<manifest:encryption-data/>")
    with pytest.raises(InputError, match=r"^a: is encrypted; save it without a password$"):
        translate_bytes(echo(), document, "a")
