"""JSON: values that are text; keys, order, numbers and layout stay. ARB files are JSON as well."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sieve.documents.blocks import LanguageCode, Part, Syntax
from sieve.documents.formats import DamagedError, text_format
from sieve.documents.localization.messages import message
from sieve.documents.localization.text_values import LANGUAGE_KEYS, TextValue, texts

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.S)


@dataclass
class _Container:
    is_object: bool
    key: str = ""
    keys: set[str] = field(default_factory=set)


def json_parts(text: str) -> Iterator[Part]:
    """Reads a document."""
    try:
        json.loads(text, strict=False, parse_int=str)  # a number may have any number of digits
    except json.JSONDecodeError as error:
        raise DamagedError(f"no JSON: {error.msg} in line {error.lineno}") from None
    except RecursionError:
        raise DamagedError("no JSON: nested too deep") from None
    values = list(_values(text))
    entries = [
        TextValue(path, value, frozenset(container.keys) if container else frozenset())
        for _, path, value, container in values
    ]
    syntax = _syntax(text.isascii() and "\\u" in text)
    place = 0
    for (match, path, value, _), is_text in zip(values, texts(entries), strict=True):
        start, end = match.span(1)
        if is_text:
            yield text[place:start]
            yield message(match[1], syntax)
        elif value and path and path[-1].lower() in LANGUAGE_KEYS:
            yield text[place:start]
            yield LanguageCode(match[1])
        else:
            continue
        place = end
    yield text[place:]


_Value = tuple["re.Match[str]", tuple[str, ...], str | None, _Container | None]


def _values(text: str) -> Iterator[_Value]:
    """Every scalar that is no key, with its path and what it stands in."""
    stack: list[_Container] = []
    is_key = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "{[":
            stack.append(_Container(token == "{"))
            is_key = token == "{"
        elif token in "}]":
            stack.pop()
        elif token == ",":
            is_key = stack[-1].is_object
        elif token == ":":
            is_key = False
        elif is_key:
            stack[-1].key = _read(match[1])
            stack[-1].keys.add(stack[-1].key)
        else:
            path = tuple(container.key for container in stack if container.is_object)
            value = None if match[1] is None else _read(match[1])
            yield match, path, value, stack[-1] if stack else None


def _read(raw: str) -> str:
    return str(json.loads(f'"{raw}"', strict=False)) if "\\" in raw else raw


def _syntax(ascii_only: bool) -> Syntax:
    return Syntax(_read, lambda text, _: json.dumps(text, ensure_ascii=ascii_only)[1:-1])


JSON = text_format("json", (".json", ".arb"), "application/json", json_parts)
