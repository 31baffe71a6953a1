from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from sieve.config import from_dict, read_toml, to_dict, with_overrides
from sieve.errors import ConfigError, InputError


@dataclass(frozen=True)
class Inner:
    rate: float = 0.1
    mode: Literal["a", "b"] = "a"


@dataclass(frozen=True)
class Outer:
    size: int
    name: str = "x"
    path: Path | None = None
    weight: float | str = 1.0
    betas: tuple[float, ...] = (0.9,)
    inner: Inner = field(default_factory=Inner)


def test_nested_values_and_conversions() -> None:
    config = from_dict(
        Outer,
        {"size": 3, "path": "a/b", "betas": [1, 0.5], "inner": {"rate": 1, "mode": "b"}},
    )
    assert config == Outer(3, "x", Path("a/b"), 1.0, (1.0, 0.5), Inner(1.0, "b"))
    assert from_dict(Outer, {"size": 3, "weight": "auto:1"}).weight == "auto:1"


@dataclass(frozen=True)
class Tables:
    groups: dict[str, tuple[str, ...]]
    free: dict[str, Any] = field(default_factory=dict)


def test_tables_with_free_keys() -> None:
    config = from_dict(Tables, {"groups": {"mix": ["a", "b"]}, "free": {"x": 1, "y": [True]}})
    assert config == Tables({"mix": ("a", "b")}, {"x": 1, "y": [True]})
    with pytest.raises(ConfigError, match=r"^groups\.mix\[1\]: got 2 \(int\), expected str$"):
        from_dict(Tables, {"groups": {"mix": ["a", 2]}})


def test_round_trip_through_plain_values() -> None:
    config = Outer(3, path=Path("p"), inner=Inner(0.5, "b"))
    assert from_dict(Outer, to_dict(config)) == config


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"size": 1, "nmae": "y"}, "unknown configuration key 'top.nmae'; did you mean 'name'?"),
        ({"size": 1, "zzz": "y"}, "known: betas, inner, name, path, size, weight"),
        ({"size": "3"}, "top.size: got '3' (str), expected int"),
        (
            {"size": 1, "inner": {"rate": float("inf")}},
            "rate: got inf, expected a finite number",
        ),
        ({"size": True}, "top.size: got True (bool), expected int"),
        ({"size": 1, "inner": {"mode": "c"}}, "top.inner.mode: got 'c', expected one of a, b"),
        ({"size": 1, "inner": {"raet": 1}}, "'top.inner.raet'; did you mean 'rate'?"),
        ({"size": 1, "betas": [1, "x"]}, "top.betas[1]: got 'x' (str), expected float"),
        ({}, "missing configuration key in [top]: size"),
    ],
)
def test_errors_name_key_and_expectation(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        from_dict(Outer, values, "top")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_overrides() -> None:
    values = with_overrides({"a": {"b": 1}}, ["a.b=2.5", "a.c=text", "d.e=[1, 2]", 'f="1"'])
    assert values == {"a": {"b": 2.5, "c": "text"}, "d": {"e": [1, 2]}, "f": "1"}


@pytest.mark.parametrize("override", ["novalue", "=3", "a.b.c=1"])
def test_bad_overrides(override: str) -> None:
    with pytest.raises(ConfigError):
        with_overrides({"a": {"b": 1}}, [override])


def test_toml_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.toml: no such configuration file"):
        read_toml(tmp_path / "missing.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("a = = 3\n")
    with pytest.raises(ConfigError, match=r"broken\.toml: not valid TOML: .*line 1"):
        read_toml(broken)
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not valid TOML"):
        read_toml(broken)
