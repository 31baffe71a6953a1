"""Which values of a data file are text for people: no names, codes, addresses or numbers.

Judges a value by itself, by its key and by the company it keeps. Knows no format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

CODE_KEYS = {
    "id", "ids", "key", "keys", "type", "kind", "url", "uri", "href", "src", "ref", "class",
    "classname", "style", "icon", "color", "colour", "font", "version", "slug", "email", "path",
    "file", "filename", "dir", "uuid", "guid", "code", "format", "encoding", "charset", "command",
    "cmd", "run", "script", "scripts", "shell", "pattern", "regex", "query", "sql", "image",
    "dependencies", "devdependencies", "author", "authors", "license", "$schema", "$ref", "uses",
    "sha", "hash", "checksum", "token", "password", "secret", "host", "user", "username", "env",
}  # fmt: skip
"""Keys, in small letters, whose values are for programs."""
LANGUAGE_KEYS = {"lang", "language", "locale", "@@locale"}
_NOTES = {"description", "comment", "context", "note", "notes", "placeholders"}

_NOT_TEXT = re.compile(
    r"\{\{(?:(?!\{\{).)*?\}\}|[$#%]?\{[^{}]*\}|%\(\w+\)[a-z]|%(?:\d+\$)?[-+0-9.*]*[a-zA-Z@]|\$\w+|&#?\w+;"
    r"|</?[A-Za-z][^<>]*>|\$t\([^()]*\)"
)
_CHOICE = re.compile(r",\s*(?:plural|select|selectordinal)\s*,")
_ADDRESS = re.compile(
    r"[a-zA-Z][\w+.-]*://|mailto:|www\.|/|\.{1,2}/|[A-Za-z]:\\|#[0-9a-fA-F]{3,8}$"
)
_WORD = re.compile(r"[(\[\"'“”„«»¿¡‘]*[^\W\d_]+(?:['’-][^\W\d_]+)*[)\]\"'“”«»’.,;:!?…]*$")


@dataclass(frozen=True)
class TextValue:
    """A value and where it stands."""

    path: tuple[str, ...]
    """Keys from the outermost to its own."""
    value: str | None
    """None for numbers, booleans and the like."""
    siblings: frozenset[str] = frozenset()
    """Keys beside its own."""


def texts(entries: Sequence[TextValue]) -> list[bool]:
    """Which values are text.

    Where nearly all values are strings and most of these are text, the file is a catalogue of
    messages, and single words are text as well.
    """
    strings = [entry for entry in entries if entry.value is not None]
    sure = [is_text(entry.value or "", entry.path) for entry in strings]
    catalogue = bool(strings) and 2 * sum(sure) >= len(strings) >= 0.9 * len(entries)
    return [
        entry.value is not None
        and not _is_note(entry)
        and is_text(entry.value, entry.path, catalogue)
        for entry in entries
    ]


def is_text(value: str, path: Sequence[str] = (), catalogue: bool = False) -> bool:
    """Whether a value is text for people.

    Args:
        value: What it says.
        path: Its keys.
        catalogue: Whether it stands in a catalogue of messages.
    """
    for_programs = any(key.lower() in CODE_KEYS for key in (path[-1:] if catalogue else path))
    if _CHOICE.search(value):
        return True
    bare = _NOT_TEXT.sub(" ", value)
    words = bare.split()
    plain = [word for word in words if _WORD.match(word)]
    if not plain or 2 * len(plain) < len(words):
        return False
    if len(words) > 1:
        return not (for_programs and not catalogue) and any(len(word) > 1 for word in plain)
    word = plain[0]
    if for_programs or _ADDRESS.match(value.strip()):
        return False
    return catalogue or not word.isascii() or (word.istitle() and len(word) > 1)


def _is_note(entry: TextValue) -> bool:
    """Whether a value is for translators: in ARB files and messages of browser extensions."""
    if any(key.startswith("@") for key in entry.path):
        return True
    return "message" in entry.siblings and entry.path[-1].lower() in _NOTES
