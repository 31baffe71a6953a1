"""Documents to attack: of each format the main part of a small good one, and the package around it.

Imports nothing of the package: a fuzzer wants to see its modules being imported.
"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / "support")]

from packages import W, package  # noqa: E402 (its folder is known now)
from small_pdf import pdf  # noqa: E402

WORD = "Good"
"""Stands in each of them as text that is translated."""
_BASE = "application/vnd.openxmlformats-officedocument."
_A = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
)
_X = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_O = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{path}:1.0"'
    for name, path in {
        "office": "office",
        "text": "text",
        "table": "table",
        "draw": "drawing",
    }.items()
)


def _office(folder: str, part: str, main: str, own: str) -> dict[str, str]:
    """What stands around a part of an Office document: its type, and that of the main part."""
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="{_BASE}{kind}+xml"/>'
        for name, kind in {f"{folder}/main.xml": main, part: own}.items()
    )
    return {"[Content_Types].xml": f"<Types>{overrides}</Types>"}


def _open(kind: str) -> dict[str, str]:
    return {"mimetype": f"application/vnd.oasis.opendocument.{kind}"}


_DOCUMENT = "wordprocessingml.document.main"
AROUND: dict[str, tuple[str, dict[str, str]]] = {
    "docx": ("word/a.xml", _office("word", "word/a.xml", _DOCUMENT, _DOCUMENT)),
    "pptx": (
        "ppt/a.xml",
        _office("ppt", "ppt/a.xml", "presentationml.presentation.main", "presentationml.slide"),
    ),
    "xlsx": (
        "xl/a.xml",
        _office("xl", "xl/a.xml", "spreadsheetml.sheet.main", "spreadsheetml.sharedStrings"),
    ),
    "odt": ("content.xml", _open("text")),
    "odp": ("content.xml", _open("presentation")),
    "ods": ("content.xml", _open("spreadsheet")),
    "epub": (
        "a.xhtml",
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="a.opf"/></container>',
            "a.opf": '<package><manifest><item href="a.xhtml" media-type="application/xhtml+xml"/>'
            "</manifest></package>",
        },
    ),
}
"""Of formats that are archives: the member that is attacked, and the others."""


def packed(form: str, data: bytes) -> bytes:
    """A document whose main part these bytes are."""
    if form not in AROUND:
        return data
    member, others = AROUND[form]
    return package({**others, member: data})


def _opened(body: str) -> bytes:
    return f"<office:document-content {_O}>{body}</office:document-content>".encode()


GOOD: dict[str, bytes] = {
    "html": b"<p>Good <b>morning</b>, <a href='x'>all</a>!</p>",
    "markdown": b"# Good *morning*\n\n- [all](x) `of` you\n",
    "latex": b"\\section{Good \\emph{morning}}\nAll of $x^2$ % of you\n",
    "rst": b"Good *morning*\n==============\n\n.. note:: all `of <x>`_ you\n",
    "text": b"Good morning, all.\n\nIt rains.\n",
    "wrapped": b"Good\nmorning, all.\n\nIt\nrains.\n",
    "docx": f'<w:document xmlns:w="{W}"><w:body><w:p><w:r><w:t>Good </w:t></w:r><w:r><w:rPr><w:b/>'
    "</w:rPr><w:t>morning</w:t></w:r></w:p></w:body></w:document>".encode(),
    "pptx": f"<p:sld {_A}><a:p><a:r><a:t>Good </a:t></a:r><a:r><a:rPr b='1'/><a:t>morning</a:t>"
    "</a:r></a:p></p:sld>".encode(),
    "xlsx": f"<sst {_X}><si><t>Good morning</t></si></sst>".encode(),
    "odt": _opened("<text:p>Good <text:span>morning</text:span></text:p>"),
    "odp": _opened("<draw:frame><text:p>Good <text:s/>morning</text:p></draw:frame>"),
    "ods": _opened("<table:table-cell><text:p>Good morning</text:p></table:table-cell>"),
    "epub": b'<html xml:lang="en"><body><p>Good <i>morning</i></p></body></html>',
    "pdf": pdf(["Good morning, all of", "you, it rains."]),
    "srt": b"1\n00:00:01,000 --> 00:00:02,000\nGood <i>morning</i>\n",
    "vtt": b"WEBVTT\n\n00:01.000 --> 00:02.000\nGood morning\n",
    "po": b'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=(n != 1);"\n\nmsgid "Good day"\n'
    b'msgid_plural "Good %d days"\nmsgstr[0] ""\nmsgstr[1] ""\n',
    "xliff": b'<xliff version="1.2"><file source-language="en"><body><trans-unit id="1">'
    b"<source>Good <g id='1'>morning</g></source></trans-unit></body></file></xliff>",
    "json": b'{"a": "Good morning", "b": ["{n, plural, one {# day} other {# days}}"]}',
    "yaml": b"en:\n  a: Good morning\n  b: |\n    two\n    lines\n",
    "properties": b"a=Good \\\n  morning\nb=It''s {0}\n",
    "android": b"<resources><string name='a'>Good <b>morning</b></string></resources>",
    "strings": b'/* x */ "a" = "Good \\"morning\\"";\n',
    "stringsdict": b"<plist><dict><key>a</key><dict><key>NSStringFormatValueTypeKey</key>"
    b"<string>d</string><key>one</key><string>Good day</string></dict></dict></plist>",
    "resx": b"<root><data name='a'><value>Good morning</value></data></root>",
    "csv": b'a,b\n1,"Good, ""morning"""\n',
    "tsv": b"a\tb\n1\tGood morning\n",
}  # fmt: skip
"""Main parts by format."""
