"""YAML: values that are text; keys, comments, anchors, order and layout stay.

Where a file's only root is the code of its language, as in Ruby on Rails, it becomes the target's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sieve.documents.blocks import LanguageCode, Part, Syntax
from sieve.documents.formats import DamagedError, text_format
from sieve.documents.localization.messages import LINE_END, message
from sieve.documents.localization.text_values import LANGUAGE_KEYS, TextValue, texts
from sieve.documents.texts.wrapped import wrapped_parts
from sieve.errors import require

_MOST_DEPTH = 200
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?$")
_NO_STRING = re.compile(
    r"(?:~|null|true|false|yes|no|on|off|[-+.]?\d.*|[-+]?\.(?:inf|nan))?$", re.I
)


@dataclass(frozen=True)
class _Scalar:
    start: int
    end: int
    value: str
    style: str | None
    path: tuple[str, ...]
    is_key: bool
    is_string: bool


def yaml_parts(text: str) -> Iterator[Part]:
    """Reads a file of one or more documents."""
    yaml: Any = require("yaml", "documents", "reading YAML")
    try:
        _check_depth(yaml, text)
        scalars = list(_scalars(yaml, text))
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise DamagedError(f"no YAML: {error.problem}{line}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise DamagedError(f"no YAML: {' '.join(str(error).split())}") from None
    values = [scalar for scalar in scalars if not scalar.is_key]
    known = texts([TextValue(each.path, each.value if each.is_string else None) for each in values])
    asked = {each.start for each, is_text in zip(values, known, strict=True) if is_text}
    root = _root(scalars)
    place = 0
    for each in scalars:
        raw = text[each.start : each.end]
        is_code = not each.is_key and each.path and each.path[-1].lower() in LANGUAGE_KEYS
        if each.start in asked or each is root or (is_code and _LANGUAGE.match(raw)):
            yield text[place : each.start]
            place = each.end
            if each.start in asked:
                yield from _value(each, raw, yaml)
            else:
                yield LanguageCode(raw)
    yield text[place:]


def _check_depth(yaml: Any, text: str) -> None:
    """Refuses what is no YAML or is nested so deep that reading it takes for ever."""
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_DEPTH:
            line = event.start_mark.line + 1
            raise DamagedError(f"no YAML: nested more than {_MOST_DEPTH} deep in line {line}")


def _root(scalars: Sequence[_Scalar]) -> _Scalar | None:
    """The only key of the outermost mapping, where it is the code of a language."""
    keys = [each for each in scalars if each.is_key and not each.path]
    only = keys[0] if len(keys) == 1 else None
    return only if only and not only.style and _LANGUAGE.match(only.value) else None


def _scalars(yaml: Any, text: str) -> Iterator[_Scalar]:
    """Every scalar in order, keys as well."""
    path: list[str] = []
    tag = ""
    state = ""
    for token in yaml.scan(text, yaml.SafeLoader):
        name = type(token).__name__
        if name in ("BlockMappingStartToken", "FlowMappingStartToken", "BlockSequenceStartToken",
                    "FlowSequenceStartToken"):  # fmt: skip
            path.append("")
        elif name in ("BlockEndToken", "FlowMappingEndToken", "FlowSequenceEndToken"):
            path.pop()
        elif name == "TagToken":
            tag = str(token.value[1])
            continue
        elif name == "ScalarToken":
            is_key = state == "KeyToken"
            if is_key:
                path[-1] = token.value
            is_string = tag in ("", "str") and not (token.plain and _NO_STRING.match(token.value))
            around = path[:-1] if is_key else path
            style = None if token.plain else token.style
            keys = tuple(filter(None, around))
            start, end = token.start_mark.index, token.end_mark.index
            yield _Scalar(start, end, token.value, style, keys, is_key, is_string)
        if name not in ("AnchorToken", "TagToken"):
            state, tag = name, ""


def _value(scalar: _Scalar, raw: str, yaml: Any) -> Iterator[Part]:
    if scalar.style in ("|", ">"):
        head, end, body = raw.partition("\n")
        yield head + end
        yield from wrapped_parts(body)
        return
    yield message(scalar.value, _VALUE, LINE_END, _written(scalar.style, yaml), (raw,))


def _written(style: str | None, yaml: Any) -> Callable[[str], str]:
    """Writes a value in the style that it had, in double quotes where that cannot be."""

    def write(text: str) -> str:
        if style == "'" and "\n" not in text:
            return "'" + text.replace("'", "''") + "'"
        if style is None and _is_plain(text, yaml):
            return text
        return json.dumps(text, ensure_ascii=False)

    return write


def _is_plain(text: str, yaml: Any) -> bool:
    """Whether a text without quotes says itself, between brackets as well."""
    if "\n" in text or _NO_STRING.match(text):
        return False
    try:
        return bool(yaml.safe_load(f"k: [{text}]") == {"k": [text]})
    except (yaml.YAMLError, ValueError):
        return False


_VALUE = Syntax(str, lambda text, _: text)

YAML = text_format("yaml", (".yaml", ".yml"), "application/yaml", yaml_parts)
