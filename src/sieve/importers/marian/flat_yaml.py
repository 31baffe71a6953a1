"""The YAML that Marian writes for its settings: one key a line, scalars and lists of scalars.

A key without a value is an empty list. Anything else that YAML can say is refused, and nothing is
ever constructed from it.
"""

import re

from sieve.errors import ModelError

Value = str | int | float | bool | None | list["Value"]
_KEY = re.compile(r"""(?:"([^"]*)"|'([^']*)'|([\w.-]+))\s*:(?:\s+(.*))?$""")
_ITEM = re.compile(r"\s*-\s+(.*)$")
_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None, "~": None, "": None}


def flat_yaml(text: str, where: str) -> dict[str, Value]:
    """The keys and values of a text; one that says more is a ModelError."""
    values: dict[str, Value] = {}
    items: list[Value] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#") or line.strip() == "---":
            continue
        item, key = _ITEM.match(line), _KEY.match(line)
        if item and items is not None:
            items.append(_value(item[1], where, number))
        elif key and not line[0].isspace():
            name, rest = key[1] or key[2] or key[3] or "", (key[4] or "").strip()
            if name in values:
                raise ModelError(f"{where}: settings, line {number}: got {name} twice")
            items = [] if not rest else None
            values[name] = items if items is not None else _value(rest, where, number)
        else:
            raise _unreadable(where, number, line)
    return values


def _value(text: str, where: str, number: int) -> Value:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        inner = text[1:-1].strip()
        return [_value(part, where, number) for part in inner.split(",")] if inner else []
    for quote in "\"'":
        if text.startswith(quote):
            if len(text) < 2 or not text.endswith(quote) or quote in text[1:-1]:
                raise _unreadable(where, number, text)
            return text[1:-1]
    if text[:1] in ("{", "&", "*", "!", "|", ">", "%", "@", "`", "[", "?"):
        raise _unreadable(where, number, text)
    text = text.split(" #")[0].rstrip()
    if text in _WORDS:
        return _WORDS[text]
    if re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    if re.fullmatch(r"[+-]?\d{1,18}\.\d*(?:e[+-]?\d{1,3})?", text):
        return float(text)
    return text


def _unreadable(where: str, number: int, line: str) -> ModelError:
    return ModelError(f"{where}: settings, line {number}: got {line[:60]!r}, expected key: value")
