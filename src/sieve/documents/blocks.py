"""What a format's reader hands over: text that stays as it is, and blocks that are translated.

A block is a paragraph's worth of text with markup inside it. Markup is never interpreted here; it
is moved about whole. Knows neither formats nor models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["open", "close", "point", "opaque"]


@dataclass(frozen=True)
class Mark:
    """Markup inside a block."""

    kind: Kind
    """`open` and `close` of one name make a pair; a `point` has no content; what is `opaque` is
    kept as it is, content and all, and goes where the translation of its words would be."""
    raw: tuple[Part, ...]
    """How it is written; attributes that are translated are blocks of their own."""
    name: str = ""
    text: str = ""
    """What the model reads in place of something opaque."""
    plain: str = ""
    """How it was written in the document."""


@dataclass(frozen=True)
class Syntax:
    """How a format writes plain text."""

    read: Callable[[str], str]
    """Text of what is written, for example with `&amp;` as `&`."""
    write: Callable[[str, str], str]
    """Writes a text; gets what stood there in the document as well."""


@dataclass(frozen=True)
class Block:
    """Text and markup in the order of the document."""

    items: tuple[str | Mark, ...]
    syntax: Syntax
    start: Callable[[str], str] = str
    """Last touch on what was written, where a line must not begin like markup."""

    @property
    def raw(self) -> str:
        """The block as it was written."""
        return "".join(item if isinstance(item, str) else item.plain for item in self.items)


Part: TypeAlias = "str | Block"


def blocks_of(parts: Sequence[Part]) -> Iterator[Block]:
    """All blocks, those inside markup before the block that the markup is in."""
    for part in parts:
        if isinstance(part, Block):
            for item in part.items:
                if isinstance(item, Mark):
                    yield from blocks_of(item.raw)
            yield part
