"""The head of a Markdown file: titles, descriptions and the language; all else is for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from sieve.documents.blocks import Block, LanguageCode, Part, Syntax

_READ = "title|subtitle|description|summary|excerpt|caption|abstract"
_LINE = re.compile(
    rf"(?P<key>(?P<read>{_READ})|lang|language)(?P<sign>[ \t]*[:=][ \t]*)(?P<value>[^\r\n]*?)"
    r"(?P<end>[ \t]*\r?\n)"
)
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:''|[^'])*'")
_PLAIN = re.compile(r"[^\W_][^#\[\]{}\"'`|>&*!%@]*")
"""A value of YAML that needs no quotes; one that looks otherwise stays."""


def front_matter(text: str) -> Iterator[Part]:
    """Reads YAML between `---` or TOML between `+++`."""
    for line in text.splitlines(keepends=True):
        match = _LINE.fullmatch(line)
        value = match["value"] if match else ""
        if match is None or not (_QUOTED.fullmatch(value) or _PLAIN.fullmatch(value)):
            yield line
            continue
        yield line[: match.start("value")]
        yield _value(value) if match["read"] else LanguageCode(value)
        yield match["end"]


def _value(value: str) -> Part:
    if value[0] == '"':
        return Block((value,), Syntax(lambda raw: raw[1:-1].replace('\\"', '"'), _double))
    if value[0] == "'":
        return Block((value,), Syntax(lambda raw: raw[1:-1].replace("''", "'"), _single))
    return Block((value,), Syntax(str, _plain))


def _double(text: str, _: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _single(text: str, _: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _plain(text: str, _: str) -> str:
    safe = _PLAIN.fullmatch(text) and ": " not in text and not text.endswith(":")
    return text if safe else _double(text, "")
