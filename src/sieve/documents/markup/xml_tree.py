"""Elements of an XML document, one at a time, and what a format's reader makes of each.

A reader names the elements it understands and gives a function for each; all else stays as it is.
Elements inside others are found by the same names, for example a text box inside a paragraph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sieve.documents.blocks import Block, Part, Syntax
from sieve.documents.formats import DamagedError
from sieve.documents.markup.xml_tokens import (
    MOST_CHARACTERS,
    XmlToken,
    attribute_spans,
    attributes,
    escaped,
    unescaped,
    xml_tokens,
)

XML = Syntax(read=unescaped, write=lambda text, _: escaped(text))


@dataclass(eq=False)
class Node:
    """An element with what is in it; text and comments are strings."""

    name: str
    """See `xml_tokens`."""
    head: str
    """Its start tag, or all of it where it is written `<name/>`."""
    children: list[Node | str] = field(default_factory=list)
    tail: str = ""
    """Its end tag."""
    parts: tuple[Part, ...] | None = None
    """What `XmlReader.parts_of` made of it."""

    def get(self, name: str) -> str | None:
        """The value of an attribute by its name without a prefix, None where there is none."""
        values = attributes(self.head)
        return next(
            (value for key, value in values.items() if key.rpartition(":")[2] == name), None
        )

    def elements(self) -> list[Node]:
        """The elements directly in it."""
        return [child for child in self.children if isinstance(child, Node)]

    def child(self, name: str) -> Node | None:
        """The first element of a name directly in it."""
        return next((child for child in self.elements() if child.name == name), None)

    def walk(self) -> Iterator[Node]:
        """The element itself and all that are in it, in order."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.elements())

    @property
    def raw(self) -> str:
        """How it is written."""
        out: list[str] = []
        waiting: list[Node | str] = [self]
        while waiting:
            part = waiting.pop()
            if isinstance(part, str):
                out.append(part)
            else:
                out.append(part.head)
                waiting += [part.tail, *reversed(part.children)]
        return "".join(out)


Handler: TypeAlias = "Callable[[XmlReader, Node], Iterable[Part]]"


def element(token: XmlToken, tokens: Iterator[XmlToken]) -> Node:
    """The element that begins with a token, with everything up to its end."""
    root = Node(token.name, token.raw)
    if token.kind == "empty":
        return root
    stack, size = [root], len(token.raw)
    for inside in tokens:
        size += len(inside.raw)
        if size > MOST_CHARACTERS:
            raise DamagedError(f"an element is larger than {MOST_CHARACTERS >> 20} MiB")
        if inside.kind == "end":
            stack.pop().tail = inside.raw
            if not stack:
                break
        elif inside.kind in ("start", "empty"):
            node = Node(inside.name, inside.raw)
            stack[-1].children.append(node)
            if inside.kind == "start":
                stack.append(node)
        else:
            stack[-1].children.append(inside.raw)
    return root


class XmlReader:
    """Reads XML by what a format makes of the elements that it understands."""

    def __init__(self, namespaces: Mapping[str, str], handlers: Mapping[str, Handler]) -> None:
        self._namespaces, self._handlers = namespaces, handlers

    def read(self, chunks: Iterable[str]) -> Iterator[Part]:
        """Reads a document."""
        tokens = xml_tokens(chunks, self._namespaces)
        for token in tokens:
            if token.kind in ("start", "empty") and token.name in self._handlers:
                yield from self.parts_of(element(token, tokens))
            else:
                yield token.raw

    def parts_of(self, node: Node) -> tuple[Part, ...]:
        """An element as it is written, with blocks where there is something to translate."""
        if node.parts is None:
            handler = self._handlers.get(node.name)
            node.parts = joined(self.inside(node) if handler is None else handler(self, node))
        return node.parts

    def inside(self, node: Node) -> Iterator[Part]:
        """An element that stays as it is, but for what is in it."""
        yield node.head
        yield from self.parts_of_all(node.children)
        yield node.tail

    def parts_of_all(self, children: Iterable[Node | str]) -> Iterator[Part]:
        """Elements and texts as they are written."""
        for child in children:
            if isinstance(child, str):
                yield child
            else:
                yield from self.parts_of(child)


def joined(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Parts with neighbouring texts as one."""
    out: list[Part] = []
    for part in parts:
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        elif part != "":
            out.append(part)
    return tuple(out)


def text_element(reader: XmlReader, node: Node) -> Iterator[Part]:
    """An element that holds nothing but text."""
    raw = "".join(child for child in node.children if isinstance(child, str))
    if node.elements() or not any(map(str.isalpha, unescaped(raw))):
        yield from reader.inside(node)
        return
    yield node.head
    yield Block((raw,), XML, original=(raw,))
    yield node.tail


def with_attributes(head: str, names: Iterable[str]) -> Iterator[Part]:
    """A start tag, the values of some of its attributes as blocks.

    Args:
        head: The tag.
        names: Of attributes that people read, without prefixes.
    """
    end = 0
    spans = attribute_spans(head)
    for name, (first, last) in spans.items():
        value = head[first:last]
        if name.rpartition(":")[2] in names and any(map(str.isalpha, unescaped(value))):
            yield head[end:first]
            yield Block((value,), _ATTRIBUTE, original=(value,))
            end = last
    yield head[end:]


def _attribute(text: str, _: str) -> str:
    return escaped(text).replace("'", "&#39;")


_ATTRIBUTE = Syntax(read=unescaped, write=_attribute)
