"""Workbooks: texts in cells, comments, drawings and charts. Formulas, names and numbers stay.

The heads of tables stay as well: formulas refer to them, and they must not become alike.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from sieve.documents.blocks import Block, Part
from sieve.documents.markup.xml_tokens import attributes, unescaped
from sieve.documents.markup.xml_tree import XML, Node, XmlReader, text_element
from sieve.documents.office.ooxml import OFFICE, PROPERTIES, PROPERTIES_TYPE
from sieve.documents.office.packages import Package, Reader, package_format
from sieve.documents.office.shapes import DRAWING, DRAWING_TYPE
from sieve.documents.office.styled_runs import LINED_UP_LINES, RunNames, paragraph

_MAIN = r"application/vnd\.openxmlformats-officedocument\.spreadsheetml\."
_TYPE = re.compile(_MAIN + r"(?:sharedStrings|worksheet)\+xml")
_COMMENTS_TYPE = re.compile(
    _MAIN + r"comments\+xml|application/vnd\.ms-excel\.threadedcomments\+xml"
)
_THREADED = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
_COLUMN = re.compile(r"<(?:\w+:)?tableColumn\b[^<>]*>")
_TABLE = re.compile(r"xl/tables/[^/]+\.xml")

_LINE_END = re.compile(r"(\r?\n|_x000D_|&#(?:10|13|xA|xa|xD|xd);)")

_RUNS = RunNames(
    run="x:r",
    look="x:rPr",
    text="x:t",
    preludes=frozenset(),
    clean=str,
    dropped=frozenset({"x:rPh", "x:phoneticPr"}),
    keeps_space=True,
    gap=LINED_UP_LINES,
)


class _Strings:
    """Reads strings but for those that name the columns of a table."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def string(self, reader: XmlReader, node: Node) -> Iterator[Part]:
        """A string, in runs or in one piece."""
        texts = [inside for inside in node.walk() if inside.name == "x:t"]
        raw = ["".join(part for part in text.children if isinstance(part, str)) for text in texts]
        if "".join(map(unescaped, raw)) in self._names:
            yield node.raw
        elif node.child("x:r"):
            yield from paragraph(_RUNS, reader, node)
        else:
            yield node.head
            for child in node.children:
                if isinstance(child, str) or child.name != "x:t":
                    yield child if isinstance(child, str) else child.raw
                else:
                    yield from _lines(child)
            yield node.tail


def _lines(node: Node) -> Iterator[Part]:
    """A text whose lines are kept apart."""
    yield node.head
    raw = "".join(part for part in node.children if isinstance(part, str))
    for number, part in enumerate(_LINE_END.split(raw)):
        has_letters = not number % 2 and any(map(str.isalpha, unescaped(part)))
        yield Block((part,), XML) if has_letters else part
    yield node.tail


def _readers(package: Package) -> Mapping[str, Reader]:
    names = {
        attributes(tag).get("name", "")
        for part in package.names
        if _TABLE.fullmatch(part)
        for tag in _COLUMN.findall(package.text(part))
    }
    strings = _Strings(names).string
    comment = _Strings(()).string
    return package.by_type(
        {
            _TYPE: XmlReader(OFFICE, {"x:si": strings, "x:is": strings}),
            _COMMENTS_TYPE: XmlReader(
                {**OFFICE, _THREADED: "thread"}, {"x:text": comment, "thread:text": text_element}
            ),
            DRAWING_TYPE: DRAWING,
            PROPERTIES_TYPE: PROPERTIES,
        }
    )


XLSX = package_format(
    "xlsx",
    (".xlsx", ".xlsm", ".xltx", ".xltm"),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    _readers,
)
