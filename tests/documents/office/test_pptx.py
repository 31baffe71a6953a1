"""Presentations through translators that copy."""

from echo import echo, swapped
from packages import member, office

from sieve.documents import translate_bytes

A = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
)
MAIN = "presentationml.presentation.main"


def slide(content: str, type: str = "slide") -> bytes:
    text = f"<p:sld {A}>{content}</p:sld>"
    return office(MAIN, ppt__slide=(f"presentationml.{type}", text))


def shown(data: bytes) -> str:
    text = member(data, "ppt/slide.xml")
    return text.partition(f"<p:sld {A}>")[2].removesuffix("</p:sld>")


def test_looks_follow_their_words() -> None:
    text = (
        '<a:p><a:pPr/><a:r><a:rPr lang="en-US" dirty="0"/><a:t>bda </a:t></a:r>'
        '<a:r><a:rPr lang="en-GB" b="1"/><a:t>fga</a:t></a:r><a:endParaRPr lang="en-US"/></a:p>'
    )
    assert shown(translate_bytes(echo(), slide(text))) == text
    assert shown(translate_bytes(echo(backwards=True), slide(text))) == (
        '<a:p><a:pPr/><a:r><a:rPr b="1"/><a:t>fga</a:t></a:r><a:r><a:t> bda</a:t></a:r>'
        '<a:endParaRPr lang="en-US"/></a:p>'
    )


def test_lines_and_fields() -> None:
    text = (
        "<a:p><a:r><a:t>bda</a:t></a:r><a:br/><a:r><a:t>fga </a:t></a:r>"
        '<a:fld type="slidenum"><a:t>‹#›</a:t></a:fld></a:p>'
    )
    expected = text.replace("bda", "BDA").replace("fga", "FGA")
    assert shown(translate_bytes(echo(swapped), slide(text))) == expected


def test_placeholders_of_layouts_stay() -> None:
    words = "<p:txBody><a:p><a:r><a:t>bda</a:t></a:r></a:p></p:txBody>"
    prompt = f"<p:sp><p:nvPr><p:ph/></p:nvPr>{words}</p:sp>"
    label = f"<p:sp><p:cNvPr descr='fga'/>{words}</p:sp>"
    document = slide(prompt + label, "slideLayout")
    expected = prompt + label.replace("bda", "BDA").replace("fga", "FGA")
    assert shown(translate_bytes(echo(swapped), document)) == expected
    expected = (prompt + label).replace("bda", "BDA").replace("fga", "FGA")
    assert shown(translate_bytes(echo(swapped), slide(prompt + label))) == expected
