"""resx and resw of .NET: values of strings; names, types, comments and embedded files stay."""

from __future__ import annotations

from collections.abc import Iterator

from sieve.documents.blocks import Part
from sieve.documents.formats import text_format
from sieve.documents.localization.messages import LINE_END, message
from sieve.documents.localization.text_values import is_text
from sieve.documents.markup.xml_tokens import unescaped
from sieve.documents.markup.xml_tree import XML, Node, XmlReader


def _data(reader: XmlReader, node: Node) -> Iterator[Part]:
    designer = (node.get("name") or "").startswith(">>")
    typed = node.get("type") is not None or node.get("mimetype") is not None
    yield node.head
    for child in node.children:
        if isinstance(child, Node) and child.name == "value" and not (typed or designer):
            raw = "".join(part for part in child.children if isinstance(part, str))
            yield child.head
            yield message(raw, XML, LINE_END) if is_text(unescaped(raw), (), True) else raw
            yield child.tail
        else:
            yield child if isinstance(child, str) else child.raw
    yield node.tail


_READER = XmlReader({}, {"data": _data})

RESX = text_format(
    "resx", (".resx", ".resw"), "text/microsoft-resx", lambda text: _READER.read([text])
)
