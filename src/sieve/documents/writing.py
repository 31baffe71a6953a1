"""A translated block back into its format: text is escaped, markup is written as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sieve.documents.blocks import BREAK, Block, Part, Syntax
from sieve.documents.inline import Element, Layout
from sieve.documents.projection import Placed


def written(block: Block, layout: Layout, placed: Placed, done: Mapping[int, str]) -> str:
    """The block as it goes into the document.

    Args:
        block: As it was read.
        layout: Its text and markup.
        placed: The translated text and where the markup goes in it.
        done: What blocks inside markup became, by their `id`.
    """
    return block.start(_Writer(block, layout, placed, done).run())


class _Writer:
    def __init__(
        self, block: Block, layout: Layout, placed: Placed, done: Mapping[int, str]
    ) -> None:
        self._block, self._layout, self._placed, self._done = block, layout, placed, done
        self._children: dict[int, list[int]] = {}
        for number, element in enumerate(layout.elements):
            self._children.setdefault(element.parent, []).append(number)
        for children in self._children.values():
            children.sort(key=lambda number: placed.spans[number])
        self._source = block.raw
        self._out: list[str] = []
        self._at = 0
        self._after_space = True  # what was written last

    def run(self) -> str:
        """Walks the tree without recursion: documents come from strangers."""
        first = list(reversed(self._children.get(-1, [])))
        stack: list[tuple[int, list[int], Syntax]] = [(-1, first, self._block.syntax)]
        while stack:
            number, waiting, syntax = stack[-1]
            if waiting:
                child = waiting.pop()
                element = self._layout.elements[child]
                self._text_to(self._placed.spans[child][0], syntax)
                if self._is_leaf(element, child, syntax):
                    continue
                self._emit(self._raw(element.before))
                inside = list(reversed(self._children.get(child, [])))
                stack.append((child, inside, element.syntax or syntax))
                continue
            stack.pop()
            if number >= 0:
                self._text_to(self._placed.spans[number][1], syntax)
                self._emit(self._raw(self._layout.elements[number].after))
        self._text_to(len(self._placed.text), self._block.syntax)
        return "".join(self._out)

    def _is_leaf(self, element: Element, number: int, syntax: Syntax) -> bool:
        """Writes a point or something opaque; False for what has content."""
        if element.opaque and not element.is_point:
            self._emit(self._raw(element.before))
            self._at = max(self._at, self._placed.spans[number][1])
            return True
        if not element.is_point:
            return False
        raw = self._raw(element.before)
        text, here = self._layout.text, element.start
        if text[here - 1 : here].isspace() and text[here : here + 1].isspace():
            # it stood between spaces, and the model saw but one
            after = self._placed.text[self._at : self._at + 1]
            space = syntax.write(" ", self._source)
            raw = raw if not after or after.isspace() else raw + space
            if not self._after_space:
                raw = space + raw
        self._emit(raw)
        return True

    def _emit(self, raw: str) -> None:
        if raw:
            self._out.append(raw)
            self._after_space = raw[-1].isspace()

    def _text_to(self, end: int, syntax: Syntax) -> None:
        if end > self._at:
            text = self._placed.text[self._at : end]
            self._at = end
            if self._layout.breaks:
                text = text.replace(BREAK, "")
            if text:
                self._out.append(syntax.write(text, self._source))
                self._after_space = text[-1].isspace()

    def _raw(self, parts: Sequence[Part]) -> str:
        return "".join(part if isinstance(part, str) else self._done[id(part)] for part in parts)
