"""Word documents: paragraphs in the body, tables, notes, headers, comments and text boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from sieve.documents.blocks import Part
from sieve.documents.formats import DamagedError
from sieve.documents.markup.xml_tree import Node, XmlReader
from sieve.documents.office.ooxml import OFFICE, PROPERTIES, PROPERTIES_TYPE
from sieve.documents.office.packages import Package, Reader, package_format
from sieve.documents.office.shapes import DRAWING, DRAWING_HANDLERS, DRAWING_TYPE
from sieve.documents.office.styled_runs import RunNames, paragraph

_TYPE = re.compile(
    r"application/vnd\.(?:openxmlformats-officedocument\.wordprocessingml|ms-word)\."
    r"(?:document\.main|template\.main|document\.macroEnabled\.main|"
    r"template\.macroEnabledTemplate\.main|header|footer|footnotes|endnotes|comments)\+xml"
)
_UNSEEN = re.compile(r"<(?:\w+:)?(?:lang|noProof|webHidden)\b[^>]*/>")
_EMPTY = re.compile(r"<([^\s/>]+)(?:\s*/>|></\1>)")


_MOST_FIELDS = 20
"""Fields inside each other, as many as Word takes."""


def _clean(look: str) -> str:
    look = _UNSEEN.sub("", look)
    return "" if _EMPTY.fullmatch(look) else look


def _folded(children: Sequence[Node | str]) -> list[Node | str]:
    """Runs from the beginning to the end of a field as one element.

    A link becomes a container of the runs it shows; any other field is kept. A field that goes on
    in another paragraph stays in its runs.
    """
    out: list[Node | str] = []
    stack: list[int] = []  # where in `out` fields begin
    for child in _single(children):
        out.append(child)
        mark = _field_mark(child)
        if mark == "begin":
            if len(stack) == _MOST_FIELDS:
                raise DamagedError(f"fields are nested more than {_MOST_FIELDS} deep")
            stack.append(len(out) - 1)
        elif mark == "end" and stack:
            first = stack.pop()
            out[first:] = [_field([each for each in out[first:] if isinstance(each, Node)])]
    return out


def _single(children: Sequence[Node | str]) -> Iterator[Node | str]:
    """Runs that hold the mark of a field and more as several runs."""
    for child in children:
        if isinstance(child, str) or child.name != "w:r" or len(child.children) < 3:
            yield child
            continue
        inside = [each for each in child.elements() if each.name != "w:rPr"]
        if not any(each.name == "w:fldChar" for each in inside):
            yield child
            continue
        look = child.child("w:rPr")
        for each in inside:
            yield Node("w:r", child.head, [*([look] if look else []), each], child.tail)


def _field_mark(child: Node | str) -> str | None:
    if isinstance(child, str) or child.name != "w:r":
        return None
    mark = child.child("w:fldChar")
    return mark.get("fldCharType") if mark else None


def _field(runs: list[Node]) -> Node:
    places = [place for place, run in enumerate(runs) if _field_mark(run) == "separate"]
    middle = places[0] + 1 if places else len(runs) - 1
    code = "".join(
        part
        for run in runs[:middle]
        for node in run.walk()
        if node.name == "w:instrText"
        for part in node.children
        if isinstance(part, str)
    )
    if code.split()[:1] != ["HYPERLINK"]:
        return Node("field", "", list(runs))
    head = "".join(run.raw for run in runs[:middle])
    return Node("link", head, list(runs[middle:-1]), runs[-1].raw)


_RUNS = RunNames(
    run="w:r",
    look="w:rPr",
    text="w:t",
    preludes=frozenset({"w:pPr", "w:sdtPr", "w:sdtEndPr", "w:smartTagPr", "w:customXmlPr"}),
    clean=_clean,
    containers=frozenset(
        {
            "link",
            "w:hyperlink",
            "w:ins",
            "w:moveTo",
            "w:sdt",
            "w:sdtContent",
            "w:smartTag",
            "w:customXml",
            "w:dir",
            "w:bdo",
        }
    ),
    separators=frozenset({"w:br", "w:cr", "w:tab", "w:ptab"}),
    dropped=frozenset({"w:proofErr", "w:lastRenderedPageBreak", "w:softHyphen"}),
    notes=frozenset({"w:footnoteReference", "w:endnoteReference", "w:commentReference"}),
    kept=frozenset({"field", "w:fldSimple", "m:oMath", "m:oMathPara"}),
    ranges={
        "w:bookmarkStart": ("open", "bookmark"),
        "w:bookmarkEnd": ("close", "bookmark"),
        "w:commentRangeStart": ("open", "comment"),
        "w:commentRangeEnd": ("close", "comment"),
        "w:permStart": ("open", "permission"),
        "w:permEnd": ("close", "permission"),
    },
    characters={"w:noBreakHyphen": "\N{NON-BREAKING HYPHEN}"},
    folded=_folded,
    keeps_space=True,
)


def _paragraph(reader: XmlReader, node: Node) -> Iterator[Part]:
    return paragraph(_RUNS, reader, node)


_WORD = XmlReader(OFFICE, {**DRAWING_HANDLERS, "w:p": _paragraph})


def _readers(package: Package) -> Mapping[str, Reader]:
    return package.by_type({_TYPE: _WORD, DRAWING_TYPE: DRAWING, PROPERTIES_TYPE: PROPERTIES})


DOCX = package_format(
    "docx",
    (".docx", ".docm", ".dotx", ".dotm"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    _readers,
)
