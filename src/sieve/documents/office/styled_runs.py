"""Paragraphs made of runs: every stretch of text says for itself how it looks, as in Word.

The look that most letters have is that of the paragraph; other looks become markup that follows its
words, as tags do in HTML. Runs that look the same are one, wherever an editor cut them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sieve.documents.blocks import Block, Kind, Mark, Part, Syntax
from sieve.documents.markup.xml_tokens import escaped, unescaped
from sieve.documents.markup.xml_tree import Node, XmlReader, joined

LINED_UP = re.compile(r"( {3,}|\t+)")
"""Spaces that line something up."""
LINED_UP_LINES = re.compile(r"( {3,}|\t+|[\r\n]+)")
"""The same, and ends of lines, where a text has some."""
_TAG = re.compile(r"<([^\s/>]+)")
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RunNames:
    """What a family of formats calls the elements of a paragraph."""

    run: str
    look: str
    """Of a run: its properties."""
    text: str
    preludes: frozenset[str]
    """Elements that stay before all text: the properties of a paragraph, of a content control."""
    clean: Callable[[str], str]
    """A look without what cannot be seen, "" where nothing is left."""
    containers: frozenset[str] = _NOTHING
    """Elements that runs are in and that follow their words: links, insertions."""
    separators: frozenset[str] = _NOTHING
    """Elements in or between runs that no sentence goes over."""
    dropped: frozenset[str] = _NOTHING
    """Notes of an editor to itself, wrong once the text is another."""
    notes: frozenset[str] = _NOTHING
    """Elements in runs that belong to the word before."""
    kept: frozenset[str] = _NOTHING
    """Elements that stay as they are, words and all: fields, formulas."""
    ranges: Mapping[str, tuple[Kind, str]] = field(default_factory=dict)
    """Elements at the ends of a stretch of text, paired by their `id`."""
    characters: Mapping[str, str] = field(default_factory=dict)
    """Elements in runs that stand for a character."""
    folded: Callable[[Sequence[Node | str]], Sequence[Node | str]] = list
    """The elements of a paragraph with those as one that belong together."""
    keeps_space: bool = False
    """Whether a text must say that spaces at its ends count."""
    gap: re.Pattern[str] = LINED_UP
    """What no sentence goes over, as a group."""


@dataclass(frozen=True)
class _Text:
    look: str
    raw: str


def paragraph(names: RunNames, reader: XmlReader, node: Node) -> Iterator[Part]:
    """A paragraph: its text as one block, all that it holds inside it."""
    items = _Gatherer(names, reader)
    items.take(node.children)
    if not items.has_letters:
        yield from reader.inside(node)
        return
    lead, rest = _split(names, node)
    block, syntax = items.finished()
    yield node.head + lead
    yield Block(block, syntax, original=joined(reader.parts_of_all(rest)))
    yield node.tail


def _split(names: RunNames, node: Node) -> tuple[str, list[Node | str]]:
    """What stays before the text of an element, as it is written, and the other children."""
    lead, rest = "", list(node.children)
    while rest and (isinstance(rest[0], str) or rest[0].name in names.preludes):
        first = rest.pop(0)
        lead += first if isinstance(first, str) else first.raw
    return lead, rest


class _Gatherer:
    """Goes through a paragraph and gathers its texts and marks."""

    def __init__(self, names: RunNames, reader: XmlReader) -> None:
        self._names, self._reader = names, reader
        self._entries: list[_Text | Mark] = []
        self._number = 0
        self._tags = ("", "")  # of a run and of a text, as they are written here

    @property
    def has_letters(self) -> bool:
        """Whether there is anything to translate."""
        return any(
            any(map(str.isalpha, unescaped(entry.raw)))
            for entry in self._entries
            if isinstance(entry, _Text)
        )

    def take(self, children: Sequence[Node | str]) -> None:
        """Goes through elements of a paragraph or of a container in it."""
        for child in self._names.folded(children):
            if isinstance(child, str) or child.name in self._names.preludes:
                continue
            if child.name == self._names.run:
                self._run(child)
            elif child.name in self._names.containers:
                self._container(child)
            else:
                self._other(child, self._reader.parts_of(child))

    def _container(self, node: Node) -> None:
        self._number += 1
        name = f"container{self._number}"
        lead, rest = _split(self._names, node)
        self._entries.append(Mark("open", (node.head + lead,), name))
        self.take(rest)
        self._entries.append(Mark("close", (node.tail,), name))

    def _run(self, run: Node) -> None:
        names = self._names
        properties = run.child(names.look)
        raw_look = properties.raw if properties else ""
        look = names.clean(raw_look)
        for child in run.elements():
            if child is properties:
                continue
            if child.name == names.text:
                self._tags = _tag(run.head), _tag(child.head)
                self._text(look, self._content(child))
            elif child.name in names.characters:
                self._text(look, names.characters[child.name])
            else:
                inside = self._reader.parts_of(child)
                self._other(child, (run.head + raw_look, *inside, run.tail))

    def _content(self, node: Node) -> str:
        raw = "".join(child for child in node.children if isinstance(child, str))
        if self._names.keeps_space and node.get("space") != "preserve":
            return raw.strip("\t\r\n") if raw.strip() else ""  # a space was meant as one
        return raw

    def _text(self, look: str, raw: str) -> None:
        for number, part in enumerate(self._names.gap.split(raw)):
            last = self._entries[-1] if self._entries else None
            if number % 2 or (len(part) > 1 and not part.strip()):
                self._entries.append(Mark("break", (self._syntax(look).write(part, ""),)))
            elif part.strip():
                self._entries.append(_Text(look, part))
            elif part:  # a space between words may look like either
                self._entries.append(_Text(last.look if isinstance(last, _Text) else look, part))

    def _other(self, node: Node, raw: Sequence[Part]) -> None:
        """An element that holds no text of the paragraph."""
        names = self._names
        if node.name in names.dropped:
            return
        kind: Kind = "point"
        name = text = ""
        if node.name in names.ranges:
            kind, stem = names.ranges[node.name]
            name = f"{stem} {node.get('id')}"
        elif node.name in names.separators:
            kind = "break"
        elif node.name in names.notes:
            self._number += 1
            kind, name = "close", f"note{self._number}"
        elif node.name in names.kept:
            text = self._visible(node)
            kind = "opaque" if text else "point"
        self._entries.append(Mark(kind, tuple(raw), name, text))

    def _visible(self, node: Node) -> str:
        texts = (
            unescaped("".join(child for child in inside.children if isinstance(child, str)))
            for inside in node.walk()
            if inside.name.rpartition(":")[2] == "t"
        )
        return " ".join("".join(texts).split())

    def _syntax(self, look: str) -> Syntax:
        run, text = self._tags
        space = ' xml:space="preserve"' if self._names.keeps_space else ""

        def write(content: str, _: str) -> str:
            return f"<{run}>{look}<{text}{space}>{escaped(content)}</{text}></{run}>"

        return Syntax(unescaped, write)

    def finished(self) -> tuple[tuple[str | Mark, ...], Syntax]:
        """The items of the block, and how its text is written where no mark says otherwise."""
        letters: Counter[str] = Counter()
        for entry in self._entries:
            if isinstance(entry, _Text):
                letters[entry.look] += sum(map(str.isalpha, entry.raw))
        base = letters.most_common(1)[0][0]
        items: list[str | Mark] = []
        for entry in _merged(self._entries):
            if isinstance(entry, Mark):
                items.append(entry)
            elif entry.look == base:
                items.append(entry.raw)
            else:
                self._number += 1
                name = f"look{self._number}"
                opening = Mark("open", (), name, syntax=self._syntax(entry.look))
                items += [opening, entry.raw, Mark("close", (), name)]
        return tuple(items), self._syntax(base)


def _merged(entries: Sequence[_Text | Mark]) -> Iterator[_Text | Mark]:
    """Neighbouring texts that look the same as one."""
    waiting: _Text | None = None
    for entry in entries:
        if isinstance(entry, _Text) and waiting is not None and waiting.look == entry.look:
            waiting = replace(waiting, raw=waiting.raw + entry.raw)
            continue
        if waiting is not None:
            yield waiting
        waiting = entry if isinstance(entry, _Text) else None
        if isinstance(entry, Mark):
            yield entry
    if waiting is not None:
        yield waiting


def _tag(head: str) -> str:
    match = _TAG.match(head)
    assert match is not None
    return match[1]
