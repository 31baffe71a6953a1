"""What a format's reader hands over: text that stays as it is, and blocks that are translated.

A block is a paragraph's worth of text with markup inside it. Markup is never interpreted here; it
is moved about whole. Knows neither formats nor models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Literal, TypeAlias
from zipfile import ZipInfo

Kind: TypeAlias = Literal["open", "close", "point", "opaque", "break"]

BREAK = "\x1e"
"""What stands for a mark that sentences do not go over, in the text of a block."""


@dataclass(frozen=True)
class Mark:
    """Markup inside a block."""

    kind: Kind
    """`open` and `close` of one name make a pair; a `point` has no content; what is `opaque` is
    kept as it is, content and all, and goes where the translation of its words would be; a `break`
    is a point between sentences, such as a tab."""
    raw: tuple[Part, ...]
    """How it is written; attributes that are translated are blocks of their own."""
    name: str = ""
    text: str = ""
    """What the model reads in place of something opaque."""
    plain: str = ""
    """How it was written in the document, for blocks that do not say so themselves."""
    syntax: Syntax | None = None
    """How text in it is written, where that is not as in the rest of the block."""


@dataclass(frozen=True)
class Syntax:
    """How a format writes plain text."""

    read: Callable[[str], str]
    """Text of what is written, for example with `&amp;` as `&`."""
    write: Callable[[str, str], str]
    """Writes a text; gets what stood there in the document as well."""


@dataclass(frozen=True)
class Block:
    """Text and markup in the order of the document.

    If none of its sentences changes it is written as it was.
    """

    items: tuple[str | Mark, ...]
    syntax: Syntax
    start: Callable[[str], str] = str
    """Last touch on what was written, where a line must not begin like markup."""
    original: tuple[Part, ...] = ()
    """How it was written, where its items do not say all of it."""

    @property
    def raw(self) -> str:
        """The block as it was written."""
        if self.original:
            return "".join(part if isinstance(part, str) else part.raw for part in self.original)
        return "".join(item if isinstance(item, str) else item.plain for item in self.items)

    @property
    def kept(self) -> tuple[Part, ...]:
        """The block as it was written, in parts: those inside it may change."""
        if self.original:
            return self.original
        parts: list[Part] = []
        for item in self.items:
            if isinstance(item, str):
                parts.append(item)
            else:
                inside = any(not isinstance(part, str) for part in item.raw)
                parts += item.raw if inside else [item.plain]
        return tuple(parts)


@dataclass(frozen=True)
class LanguageCode:
    """A code such as `en-US`, written as that of the target if it names the source language."""

    raw: str

    def written(self, languages: tuple[str, str]) -> str:
        """The code that the translation has."""
        source, target = languages
        same = self.raw.strip().lower().replace("_", "-").split("-")[0] == source.split("-")[0]
        return target if source and target and same else self.raw


@dataclass(frozen=True)
class Arranged:
    """Blocks of which the languages say how they are put together, such as forms of a plural."""

    raw: str
    """How it was written."""
    together: Callable[[tuple[str, str], Sequence[str]], str]
    """Gets the codes of source and target, and what each block became."""
    blocks: tuple[Block, ...] = ()

    def written(self, languages: tuple[str, str], texts: Sequence[str]) -> str:
        """What the document has in its place."""
        return self.together(languages, texts)


@dataclass(frozen=True)
class Member:
    """Where a file begins in what a reader hands over: the only one, or one of a package."""

    encoding: str = "utf-8"
    """Of the text that follows."""
    errors: str = "surrogateescape"
    """What becomes of text that the encoding does not have, as `str.encode` names it."""
    info: ZipInfo | None = None
    """Of a file in a package."""
    content: Callable[[], IO[bytes]] | None = None
    """Opens what is copied as it is; None where text follows."""


Part: TypeAlias = "str | Block | LanguageCode | Arranged"
Piece: TypeAlias = "Part | Member"


def inner_parts(part: Piece) -> Iterator[Block | LanguageCode | Arranged]:
    """All that is not fixed in a part, what is inside markup before the block it is in."""
    if isinstance(part, LanguageCode):
        yield part
    elif isinstance(part, Arranged):
        for block in part.blocks:
            yield from inner_parts(block)
        yield part
    elif isinstance(part, Block):
        for item in part.items:
            if isinstance(item, Mark):
                for inside in item.raw:
                    yield from inner_parts(inside)
        for inside in part.original:  # those that no item has
            yield from inner_parts(inside)
        yield part


def blocks_of(parts: Sequence[Piece]) -> Iterator[Block]:
    """All blocks, those inside markup before the block that the markup is in."""
    seen: set[int] = set()
    for part in parts:
        for inside in inner_parts(part):
            if isinstance(inside, Block) and id(inside) not in seen:
                seen.add(id(inside))
                yield inside
