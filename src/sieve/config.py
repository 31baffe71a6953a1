"""TOML and plain dictionaries into frozen dataclasses, generically.

Each dataclass lives beside its owner; this file knows none of them. Unknown keys and wrong types
are errors that name the key, what was expected and the nearest known key.
"""

import dataclasses
import difflib
import json
import re
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sieve.errors import ConfigError, InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

C = TypeVar("C")


def device_name(text: str) -> str:
    """What torch calls a device, or an error."""
    if not re.fullmatch(r"cpu|cuda(:\d+)?", text):
        raise ConfigError(f"device: got '{text}', expected cpu, cuda or cuda:N")
    return text


def read_toml(path: Path) -> dict[str, Any]:
    """Reads a TOML file; errors name the file and the place."""
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such configuration file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    return values


def from_dict(kind: type[C], values: Mapping[str, Any], where: str = "") -> C:
    """Builds the dataclass `kind` from `values`; nested dataclasses from nested mappings.

    Args:
        kind: A dataclass type.
        values: Keys and values as TOML or JSON give them.
        where: Dotted prefix of the keys for error messages, for example `training`.
    """
    hints = typing.get_type_hints(kind)
    fields = {f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    result: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{where}.{key}" if where else key
        if key not in fields:
            raise ConfigError(unknown("configuration key", name, list(fields), key))
        result[key] = _convert(hints[key], value, name)
    missing = [
        f.name
        for f in fields.values()
        if f.name not in result
        and f.default is dataclasses.MISSING
        and f.default_factory is dataclasses.MISSING
    ]
    if missing:
        place = f" in [{where}]" if where else ""
        raise ConfigError(f"missing configuration key{place}: {', '.join(missing)}")
    return kind(**result)


def to_dict(config: object) -> dict[str, Any]:
    """The resolved configuration as JSON-ready values."""
    plain = dataclasses.asdict(config)  # type: ignore[call-overload]
    return typing.cast(dict[str, Any], json.loads(json.dumps(plain, default=str)))


def with_overrides(values: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Applies `section.key=value` strings, values read as TOML, else taken as text."""
    result: dict[str, Any] = json.loads(json.dumps(values))
    for override in overrides:
        path, equals, text = override.partition("=")
        if not equals or not path.strip():
            raise ConfigError(f"got the override '{override}', expected section.key=value")
        *sections, key = path.strip().split(".")
        target = result
        for section in sections:
            target = target.setdefault(section, {})
            if not isinstance(target, dict):
                raise ConfigError(f"'{path}': '{section}' is a value, not a section")
        try:
            target[key] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            target[key] = text
    return result


def unknown(what: str, name: str, known: Sequence[str], key: str | None = None) -> str:
    """One line for an unknown name, with the nearest known one."""
    near = difflib.get_close_matches(key or name, known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(sorted(known))}"
    return f"unknown {what} '{name}'; {hint}"


def _convert(expected: Any, value: Any, name: str) -> Any:
    """Checks and converts one value to the annotated type."""
    origin, args = typing.get_origin(expected), typing.get_args(expected)
    if dataclasses.is_dataclass(expected) and isinstance(value, Mapping):
        return from_dict(typing.cast(type[Any], expected), value, name)
    if origin in (typing.Union, types.UnionType):
        return _convert_union(args, value, name)
    if origin is typing.Literal:
        if value in args:
            return value
        raise ConfigError(f"{name}: got {value!r}, expected one of {', '.join(map(str, args))}")
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(_convert(args[0], item, f"{name}[{i}]") for i, item in enumerate(value))
    if origin is dict and isinstance(value, Mapping):
        return {key: _convert(args[1], item, f"{name}.{key}") for key, item in value.items()}
    return _convert_scalar(expected, value, name)


def _convert_scalar(expected: Any, value: Any, name: str) -> Any:
    if expected is Any:
        return value
    if expected is float and isinstance(value, int | float) and not isinstance(value, bool):
        if not -sys.float_info.max <= value <= sys.float_info.max:
            raise ConfigError(f"{name}: got {value}, expected a finite number")
        return float(value)
    if expected is Path and isinstance(value, str):
        return Path(value)
    is_stray_bool = isinstance(value, bool) and expected is not bool
    is_class = (
        isinstance(expected, type) and typing.get_origin(expected) is None
    )  # 3.10: tuple[…] is
    if is_class and isinstance(value, expected) and not is_stray_bool:
        return value
    label = getattr(expected, "__name__", str(expected))
    raise ConfigError(f"{name}: got {value!r} ({type(value).__name__}), expected {label}")


def _convert_union(options: Sequence[Any], value: Any, name: str) -> Any:
    if value is None and type(None) in options:
        return None
    error: ConfigError | None = None
    for option in options:
        if option is type(None):
            continue
        try:
            return _convert(option, value, name)
        except ConfigError as caught:
            error = error or caught
    assert error is not None
    raise error
