"""XLIFF 1.2 and 2.0: sources without a translation get one in their target, inline tags and all.

Targets that hold a translation stay, unless their state says that it is yet to be made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sieve.documents.blocks import Arranged, Block, LanguageCode, Mark, Part
from sieve.documents.formats import text_format
from sieve.documents.markup.xml_tokens import attribute_spans, escaped
from sieve.documents.markup.xml_tree import XML, Node, XmlReader

_NAMESPACES = {
    "urn:oasis:names:tc:xliff:document:1.1": "",
    "urn:oasis:names:tc:xliff:document:1.2": "",
    "urn:oasis:names:tc:xliff:document:2.0": "",
    "urn:oasis:names:tc:xliff:document:2.1": "",
}
_TO_DO = {"new", "needs-translation", "initial"}
_PAIRS = {"g", "pc", "mrk"}
_CODE = {"ph", "it", "bpt", "ept", "x", "bx", "ex", "sc", "ec", "sm", "em", "cp"}
_OUTER = re.compile(r"<(?:\w+:)?(?:xliff|file)\b")


def _kept(node: Node) -> bool:
    return node.get("translate") == "no" or node.get("approved") == "yes"


def _group(reader: XmlReader, node: Node) -> Iterator[Part]:
    """Anything that may say that nothing in it is translated."""
    if _kept(node):
        yield node.raw
    else:
        yield from reader.inside(node)


def _unit(reader: XmlReader, node: Node) -> Iterator[Part]:
    """A `trans-unit` of 1.2 or a `segment` of 2.0: source, target, and what else is in it."""
    source, target = node.child("source"), node.child("target")
    if source is None or _kept(node) or _is_done(node, source, target):
        yield node.raw
        return
    segmented = node.child("seg-source")
    content = segmented if segmented is not None and segmented.children else source
    block = Block(tuple(_items(content)), XML)
    is_segment = node.name == "segment"
    yield _with_state(node.head, "translated") if is_segment else node.head
    for child in _with_space(node, content if segmented is not None else source, target):
        if child is None:
            name = source.head[1:].split("source")[0] + "target"
            yield f"<{name}>"
            yield block
            yield f"</{name}>"
        elif child is target:
            head = target.head if target.tail else re.sub(r"\s*/>$", ">", target.head)
            yield head if is_segment else _with_state(head, "needs-review-translation")
            yield block
            yield target.tail or f"</{_tag_name(target.head)}>"
        else:
            yield child if isinstance(child, str) else child.raw
    yield node.tail


def _is_done(node: Node, source: Node, target: Node | None) -> bool:
    """Whether there is a translation, and not just a copy of the source or one yet to be made."""
    if target is None or not _written(target).strip() or _written(target) == _written(source):
        return False
    return (target.get("state") or node.get("state")) not in _TO_DO


def _with_space(node: Node, after: Node, target: Node | None) -> Iterator[Node | str | None]:
    """Children of a unit, None where a target is missing: on a line of its own, like the source."""
    space = ""
    for child in node.children:
        yield child
        if child is after and target is None:
            yield space
            yield None
        space = child if isinstance(child, str) and not child.strip() else ""


def _written(node: Node) -> str:
    return "".join(c if isinstance(c, str) else c.raw for c in node.children)


def _tag_name(head: str) -> str:
    return re.split(r"[\s/>]", head[1:], maxsplit=1)[0]


def _with_state(head: str, state: str) -> str:
    """A tag whose `state` says that there is a translation now."""
    span = attribute_spans(head).get("state")
    return head if span is None else head[: span[0]] + state + head[span[1] :]


def _items(node: Node) -> Iterator[str | Mark]:
    """Text and inline tags of a source."""
    for child in node.children:
        if isinstance(child, str):
            yield child
        elif child.name in _PAIRS and child.children and not _protected(child):
            name = f"{child.name} {child.get('id') or child.get('mid')}"
            yield Mark("open", (child.head,), name, plain=child.head)
            yield from _items(child)
            yield Mark("close", (child.tail,), name, plain=child.tail)
        elif child.name in _CODE or not child.children:
            yield Mark("point", (child.raw,), plain=child.raw)
        else:
            words = " ".join(re.sub(r"<[^>]*>", " ", _written(child)).split())
            yield Mark("opaque" if words else "point", (child.raw,), "", words, plain=child.raw)


def _protected(node: Node) -> bool:
    return node.get("translate") == "no" or node.get("mtype") == "protected"


def xliff_parts(text: str) -> Iterator[Part]:
    """Reads a document."""
    for part in _READER.read([text]):
        if isinstance(part, str) and _OUTER.match(part):
            yield from _languages(part)
        else:
            yield part


def _languages(head: str) -> Iterator[Part]:
    """A tag that says the source language, with the target's."""
    spans = attribute_spans(head)
    source = next((name for name in ("source-language", "srcLang") if name in spans), None)
    target = {"source-language": "target-language", "srcLang": "trgLang"}.get(source or "", "")
    if source is None:
        yield head
    elif target in spans:
        first, last = spans[target]
        yield head[:first]
        yield LanguageCode(head[first:last])
        yield head[last:]
    else:
        end = spans[source][1] + 1

        def added(languages: tuple[str, str], _: Sequence[str]) -> str:
            return f' {target}="{escaped(languages[1])}"' if languages[1] else ""

        yield head[:end]
        yield Arranged("", added)
        yield head[end:]


_READER = XmlReader(
    _NAMESPACES, {"group": _group, "unit": _group, "trans-unit": _unit, "segment": _unit}
)

XLIFF = text_format("xliff", (".xlf", ".xliff"), "application/xliff+xml", xliff_parts)
