"""Java's .properties: values; keys, comments and escapes stay, what is not ASCII as in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sieve.documents.blocks import Part, Syntax
from sieve.documents.formats import DamagedError, text_format
from sieve.documents.localization.messages import message
from sieve.documents.localization.text_values import TextValue, texts

_LINE = re.compile(
    r"(?P<lead>[ \t\f]*)(?:(?P<comment>[#!][^\r\n]*)"
    r"|(?P<key>(?:\\(?:\r\n|.)|[^\\\s:=])+)(?P<sign>[ \t\f]*[:=]?[ \t\f]*(?:\\\r?\n[ \t\f]*)?)"
    r"(?P<value>(?:\\(?:\r\n|.)|[^\\\r\n])*)"
    r"|(?P<nameless>[:=][^\r\n]*))?(?P<end>\r\n|[\r\n]|\Z)",
    re.S,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|\r?\n[ \t\f]*|(.))", re.S)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_WRITTEN = {"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r", "\f": r"\f"}


def properties_parts(text: str) -> Iterator[Part]:
    """Reads a document."""
    lines, entries, place = [], [], 0
    while place < len(text):
        match = _LINE.match(text, place)
        if match is None:
            number = text.count("\n", 0, place) + 1
            raise DamagedError(f"line {number}: a backslash at the end, expected another line")
        lines.append(match)
        value = _read(match["value"]) if match["value"] else None
        if match["key"]:
            entries.append(TextValue((match["key"].rpartition(".")[2],), value))
        place = match.end()
    raw_letters = not text.isascii() and not re.search("[\udc80-\udcff]", text)
    answers = iter(texts(entries))
    for match in lines:
        if match["key"] and next(answers):
            start, end = match.start("value") - match.start(), match.end("value") - match.start()
            yield match[0][:start]
            yield message(match["value"], _syntax(raw_letters, "''" in match["value"]))
            yield match[0][end:]
        else:
            yield match[0]


def _read(raw: str) -> str:
    def resolved(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return _CONTROLS.get(match[2], match[2]) if match[2] else ""

    text = _ESCAPE.sub(resolved, raw)
    text = (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if "\\u" in raw else text
    )
    return "".join(chr(ord(c) - 0xDC00) if "\udc80" <= c <= "\udcff" else c for c in text)


def _syntax(raw_letters: bool, doubled: bool) -> Syntax:
    """Where quotes are doubled, as patterns with placeholders have them, they are so again."""

    def read(raw: str) -> str:
        text = _read(raw)
        return text.replace("''", "'") if doubled else text

    def write(text: str, _: str) -> str:
        text = "".join(_WRITTEN.get(c, c) for c in text)
        text = text.replace("'", "''") if doubled else text
        return text if raw_letters else "".join(map(_ascii, text))

    return Syntax(read, write)


def _ascii(character: str) -> str:
    if character.isascii():
        return character
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[n]:02x}{data[n + 1]:02x}" for n in range(0, len(data), 2))


PROPERTIES = text_format("properties", (".properties",), "text/x-java-properties", properties_parts)
