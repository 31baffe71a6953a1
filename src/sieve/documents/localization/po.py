"""gettext's po and pot: messages without a translation get one; all else stays as it is.

A template gets the target language's code and plural forms in its header.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sieve.documents.blocks import Arranged, Block, LanguageCode, Part, Syntax
from sieve.documents.formats import DamagedError, text_format
from sieve.documents.localization.messages import message
from sieve.documents.localization.plural_forms import number_of_forms, plural_forms

_LINE = re.compile(
    r"\s*(?:(?P<comment>#.*)|(?:(?P<key>msgctxt|msgid_plural|msgid|msgstr(?:\[\d+\])?)\s*)?"
    r'"(?P<text>(?:[^"\\]|\\.)*)"\s*|)$'
)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|(.))", re.S)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_WRITTEN = {character: f"\\{name}" for name, character in _CONTROLS.items()} | {
    "\\": "\\\\", '"': '\\"',
}  # fmt: skip
_WIDTH = 77
"""Characters of a line between its quotes, as gettext's own tools write them."""


@dataclass
class _Field:
    key: str
    lines: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def raw(self) -> str:
        return "".join(self.lines)

    @property
    def text(self) -> str:
        return "".join(self.texts)


def po_parts(text: str) -> Iterator[Part]:
    """Reads a catalogue."""
    newline = "\r\n" if "\r\n" in text else "\n"
    entry: list[_Field] = []
    header = ""
    for piece in _fields(text):
        if isinstance(piece, _Field) and piece.key in ("msgctxt", "msgid"):
            waiting = len(entry) == 1 and entry[0].key == "msgctxt"
            if entry and not waiting:
                header = header or _header(entry)
                yield from _entry(entry, header, newline)
                entry = []
        if isinstance(piece, _Field):
            entry.append(piece)
        elif entry and entry[-1].key.startswith("msgstr"):
            header = header or _header(entry)
            yield from _entry(entry, header, newline)
            entry = []
            yield piece
        elif entry:  # a comment inside an entry
            entry[-1].lines.append(piece)
        else:
            yield piece
    if entry:
        yield from _entry(entry, header or _header(entry), newline)


def _fields(text: str) -> Iterator[_Field | str]:
    """Fields of entries in order, and the lines between them."""
    current: _Field | None = None
    for number, line in enumerate(re.findall(r"[^\n]*\n|[^\n]+\Z", text), 1):
        match = _LINE.match(line.rstrip("\r\n"))
        if match is None or (match["text"] is not None and not (match["key"] or current)):
            raise DamagedError(
                f"line {number}: got {line.strip()[:40]!r}, expected a comment, "
                'msgid "…", msgstr "…" or a text in quotes'
            )
        if match["text"] is None:
            if current is not None:
                yield current
            current = None
            yield line
            continue
        if match["key"]:
            if current is not None:
                yield current
            current = _Field(match["key"])
        assert current is not None
        current.lines.append(line)
        current.texts.append(match["text"])
    if current is not None:
        yield current


def _header(entry: Sequence[_Field]) -> str:
    """The text of the header, if that is what an entry is."""
    first, last = entry[0], entry[-1]
    return last.text if first.key == "msgid" and not first.text else ""


def _entry(entry: Sequence[_Field], header: str, newline: str) -> Iterator[Part]:
    fields = {each.key: each for each in entry}
    targets = [each for each in entry if each.key.startswith("msgstr")]
    if "msgid" not in fields or not targets:
        raise DamagedError(f"got {entry[0].raw.strip()[:40]!r}, expected msgid with msgstr")
    yield "".join(each.raw for each in entry if not each.key.startswith("msgstr"))
    if not fields["msgid"].text:
        yield from _header_parts(targets[0])
    elif any(target.text for target in targets):
        yield "".join(target.raw for target in targets)
    elif "msgid_plural" in fields:
        yield _plural(fields["msgid"], fields["msgid_plural"], targets, header, newline)
    else:
        lead, tail = _around(targets[0])
        yield f"{lead}msgstr "
        yield _block(fields["msgid"], newline)
        yield tail


def _plural(
    singular: _Field, plural: _Field, targets: Sequence[_Field], header: str, newline: str
) -> Arranged:
    """As many forms as the header says, else as many as the target language has."""
    known = number_of_forms(header)

    def together(languages: tuple[str, str], texts: Sequence[str]) -> str:
        target = languages[1]
        forms = number_of_forms(plural_forms(target)) if target else len(targets)
        count = known or forms or 2
        first = 0 if count > 1 else 1
        lines = [f"msgstr[{n}] {texts[min(n + first, 1)]}" for n in range(count)]
        return newline.join(lines) + _around(targets[-1])[1]

    raw = "".join(target.raw for target in targets)
    return Arranged(raw, together, (_block(singular, newline), _block(plural, newline)))


def _around(target: _Field) -> tuple[str, str]:
    """What stands before a field in its line, and the end of its last line."""
    first, last = target.lines[0], target.lines[-1]
    return first[: len(first) - len(first.lstrip())], last[len(last.rstrip("\r\n")) :]


def _block(source: _Field, newline: str) -> Block:
    """The text of a field; if nothing changes, it is written as in that field."""
    copy = newline.join(re.sub(r"^\s*msgid\w*\s*", "", line).strip() for line in source.lines)
    return message(source.text, _PO, start=_quoted(newline), original=(copy,))


def _quoted(newline: str) -> Callable[[str], str]:
    """Puts a text in quotes, over several lines where it is long or has some."""

    def write(text: str) -> str:
        lines = re.findall(r"(?:[^\\]|\\[^n])*?\\n|(?:[^\\]|\\.)+\Z", text, re.S)
        if len(lines) < 2 and len(text) <= _WIDTH - len("msgstr "):
            return f'"{text}"'
        pieces = [piece for line in lines for piece in _wrapped(line)]
        return newline.join(['""', *(f'"{piece}"' for piece in pieces)])

    return write


def _wrapped(line: str) -> Iterator[str]:
    """A line in pieces that fit; spaces end pieces."""
    piece = ""
    for word in re.findall(r"\S+\s*|\s+", line):
        if piece and len(piece) + len(word.rstrip()) > _WIDTH:
            yield piece
            piece = ""
        piece += word
    yield piece


def _header_parts(target: _Field) -> Iterator[Part]:
    """The header, its language and forms of plurals as the target has them."""
    for line in target.lines:
        match = re.match(r'(.*"(Language|Plural-Forms): *)(.*?)(\\n"\s*)$', line, re.S)
        if match is None:
            yield line
        elif match[2] == "Language":
            yield match[1]
            yield LanguageCode(match[3]) if match[3] else Arranged("", _target_code)
            yield match[4]
        else:
            yield match[1]
            yield match[3] if number_of_forms(match[3]) else Arranged(match[3], _target_forms)
            yield match[4]


def _target_code(languages: tuple[str, str], _: Sequence[str]) -> str:
    return languages[1].replace("-", "_")


def _target_forms(languages: tuple[str, str], _: Sequence[str]) -> str:
    return plural_forms(languages[1])


def _read(raw: str) -> str:
    def resolved(match: re.Match[str]) -> str:
        if match[1] or match[2]:
            return chr(int(match[1], 8) if match[1] else int(match[2], 16))
        return _CONTROLS.get(match[3], match[3])

    return _ESCAPE.sub(resolved, raw)


_PO = Syntax(_read, lambda text, _: "".join(_WRITTEN.get(c, c) for c in text))

PO = text_format("po", (".po", ".pot"), "text/x-gettext-translation", po_parts)
