"""Pairs with other literals: the same ones on both sides, and nothing else changed."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.copies import address, copied, copies, made_up, names_of

SOURCE = "In 1989 we met Obama near Berlin and paid 25 € for 3 books."
TARGET = "1989 trafen wir Obama bei Berlin und zahlten 25 € für drei Bücher."


@given(st.integers(0, 10**6))
def test_both_sides_get_the_same(seed: int) -> None:
    rng = random.Random(seed)
    found = copied(SOURCE, TARGET, ["Kennedy"], rng)
    assert found is not None
    source, target = found
    numbers = [re.findall(r"\d+", side.split(": ")[0]) for side in found]
    assert numbers[0][:2] == numbers[1][:2]
    assert len(numbers[0][0]) == 4
    assert numbers[0][2] == "3"  # spelled out in the translation: left alone
    name, place = re.search(r"met (\w+) near (\w+) and", source).groups()  # type: ignore[union-attr]
    assert f"wir {name} bei {place} und" in target
    assert source.startswith("In ")
    assert "für drei Bücher" in target
    [sign] = {c for c in source if c in "€$£"}
    assert sign in target
    end = re.search(r"books(.*)$", source)[1]  # type: ignore[index]
    assert target.endswith(f"Bücher{end}")


def test_nothing_to_copy() -> None:
    found = [copied("no thing", "kein Ding", [], random.Random(seed)) for seed in range(40)]
    assert any(one is None for one in found)
    assert all(one is None or one[0].startswith("no thing") for one in found)


def test_names() -> None:
    assert (
        names_of(["he saw Obama", "to Obama in Paris"], ["er sah Obama", "zu Obama nach Paris"])[-1]
        == "Obama"
    )
    assert names_of(["see the Sea"], ["die See sehen"]) == []


def test_the_same_for_the_same_seed() -> None:
    sources, targets = [SOURCE] * 400, [TARGET] * 400
    first = copies(sources, targets, 3)
    assert first == copies(sources, targets, 3)
    assert 10 < len(first[0]) < 70
    assert len(set(first[0])) > 10


@pytest.mark.parametrize("seed", range(5))
def test_addresses(seed: int) -> None:
    rng = random.Random(seed)
    assert re.fullmatch(r"\S+\.\S+", address(rng))
    assert made_up(rng)[0].isupper()
