"""The markup of a block as a tree over its text.

Pairs become elements with a range of characters; whatever has no partner or no content becomes a
point. Depth costs no recursion: documents come from strangers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sieve.documents.blocks import BREAK, Block, Mark, Part, Syntax

_ROOT = -1
_MOST_DEPTH = 200
"""Elements inside each other, as many as XML may have; what is deeper becomes points."""


@dataclass
class Element:
    """A piece of markup and the characters of the block's text that it covers."""

    start: int
    end: int
    parent: int
    """Number of the element it lies in; −1 for the block itself."""
    before: list[Part]
    """Written before its content, or all of it for a point."""
    after: list[Part] = field(default_factory=list)
    opaque: bool = False
    leans: int = 0
    """Of a point: −1 belongs to what stands before it, 1 to what follows, 0 to neither."""
    syntax: Syntax | None = None
    """How text in it is written, where that is not as around it."""

    @property
    def is_point(self) -> bool:
        """Whether it covers no text."""
        return self.start == self.end


@dataclass(frozen=True)
class Layout:
    """A block's text and its markup, parents before children, in the order of the document."""

    text: str
    elements: tuple[Element, ...]
    breaks: bool = False
    """Whether BREAK in the text stands for a mark."""


def layout(block: Block) -> Layout:
    """Reads the markup of a block."""
    partners = _partners([item for item in block.items if isinstance(item, Mark)])
    builder = _Builder()
    number = -1
    for item in block.items:
        if isinstance(item, str):
            builder.add_text(block.syntax.read(item))
            continue
        number += 1
        builder.add_mark(item, number, partners)
    return builder.finish()


def _partners(marks: list[Mark]) -> dict[int, int]:
    """Numbers of marks that open and close the same thing, each the other's partner.

    A closing mark takes the nearest open one of its name; those in between stay alone.
    """
    waiting: dict[str, list[int]] = {}
    stack: list[int] = []
    gone: set[int] = set()
    partners: dict[int, int] = {}
    for number, mark in enumerate(marks):
        if mark.kind == "open":
            stack.append(number)
            waiting.setdefault(mark.name, []).append(number)
        elif mark.kind == "close":
            names = waiting.get(mark.name, [])
            while names and names[-1] in gone:
                names.pop()
            if not names:
                continue
            opener = names.pop()
            partners[opener], partners[number] = number, opener
            while stack and stack[-1] != opener:
                gone.add(stack.pop())
            stack.pop()
    return partners


class _Builder:
    def __init__(self) -> None:
        self._breaks = False
        self._texts: list[str] = []
        self._length = 0
        self._elements: list[Element] = []
        self._open: list[tuple[int, int]] = []  # number of the mark, of the element

    def add_text(self, text: str) -> None:
        self._texts.append(text)
        self._length += len(text)

    def add_mark(self, mark: Mark, number: int, partners: dict[int, int]) -> None:
        here = self._length
        parent = self._open[-1][1] if self._open else _ROOT
        if mark.kind == "close" and self._open and self._open[-1][0] == partners.get(number):
            _, index = self._open.pop()
            self._elements[index].end = here
            self._elements[index].after = list(mark.raw)
            return
        element = Element(here, here, parent, list(mark.raw), opaque=mark.kind == "opaque")
        element.syntax = mark.syntax
        self._elements.append(element)
        if mark.kind == "open" and number in partners and len(self._open) < _MOST_DEPTH:
            self._open.append((number, len(self._elements) - 1))
        elif mark.kind == "opaque":
            self.add_text(mark.text)
            element.end = self._length
        elif mark.kind == "break":
            self._breaks = True
            self.add_text(BREAK)
        else:
            element.leans = {"open": 1, "close": -1}.get(mark.kind, 0)

    def finish(self) -> Layout:
        text = "".join(self._texts)
        for element in self._elements:
            _shrink(element, text)
        return Layout(text, tuple(_merged(self._elements)), self._breaks)


def _shrink(element: Element, text: str) -> None:
    """White space at the ends of an element is no content of it."""
    inside = text[element.start : element.end]
    if inside and not inside.strip():
        element.end = element.start
    elif inside:
        element.end -= len(inside) - len(inside.rstrip())
        element.start += len(inside) - len(inside.lstrip())


def _merged(elements: list[Element]) -> Iterator[Element]:
    """Elements with everything that lies in an empty one made part of it: one point."""
    new: dict[int, int] = {_ROOT: _ROOT}
    host: dict[int, Element] = {}  # of elements inside an empty one
    kept: list[Element] = []
    tails: dict[int, list[tuple[Element, int]]] = {}
    for index, element in enumerate(elements):
        outer = host.get(element.parent)
        if outer is None and element.is_point and element.after:
            host[index] = element
            tails[id(element)] = [(element, index)]
        elif outer is not None:
            _close(tails[id(outer)], element.parent, outer)
            outer.before += element.before
            host[index] = outer
            tails[id(outer)].append((element, index))
            continue
        new[index] = len(kept)
        element.parent = new[element.parent]
        kept.append(element)
    for element in kept:
        if id(element) in tails:
            _close(tails[id(element)], None, element)
    yield from kept


def _close(stack: list[tuple[Element, int]], parent: int | None, outer: Element) -> None:
    """Writes the ends of what is open in an empty element, down to `parent`."""
    while stack and stack[-1][1] != parent:
        element, _ = stack.pop()
        tail, element.after = element.after, []
        outer.before += tail
