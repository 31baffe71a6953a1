"""Books through translators that copy."""

import pytest
from echo import echo, swapped
from packages import member, package

from sieve.documents import translate_bytes
from sieve.errors import InputError

CHAPTER = (
    '<?xml version="1.0"?>\n<!DOCTYPE html>\n<html xml:lang="en"><head><title/><script src="x"/>'
    '</head><body><p><a id="y"/>Bda <i>fga</i></p></body></html>'
)
OPF = (
    '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Bda</dc:title>'
    "<dc:language>en-GB</dc:language><manifest>"
    '<item href="one%20.xhtml" media-type="application/xhtml+xml"/>'
    '<item href="x.css" media-type="text/css"/>'
    '<item href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest></package>'
)
NCX = '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><text>Fga</text></ncx>'


def book(**more: str) -> bytes:
    return package(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="OPS/a.opf"/></container>',
            "OPS/a.opf": OPF,
            "OPS/one .xhtml": CHAPTER,
            "OPS/toc.ncx": NCX,
            "OPS/x.css": "p { }",
            **{name.replace("__", "/"): text for name, text in more.items()},
        }
    )


def test_chapters_contents_and_title() -> None:
    document = book()
    assert translate_bytes(echo(), document) == document
    out = translate_bytes(echo(swapped, languages=("en", "de")), document)
    assert member(out, "OPS/one .xhtml") == (
        CHAPTER.replace("Bda", "bDA").replace("fga", "FGA").replace('"en"', '"de"')
    )
    assert member(out, "OPS/a.opf") == OPF.replace(">Bda", ">bDA").replace("en-GB", "de")
    assert member(out, "OPS/toc.ncx") == NCX.replace("Fga", "fGA")
    assert member(out, "OPS/x.css") == "p { }"


def test_a_protected_book_is_refused() -> None:
    locked = {"META-INF__encryption.xml": '<x><CipherReference URI="OPS/one%20.xhtml"/></x>'}
    with pytest.raises(InputError, match=r"^a: is protected against copying$"):
        translate_bytes(echo(), book(**locked), "a")
