"""The quality signal with scores made by hand, and through a translator."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from directories import write_model

import sieve
from sieve.cli.main import main
from sieve.translate.estimated_quality import (
    BACKWARD,
    FORM,
    FORWARD,
    WEIGHTS_ALONE,
    WEIGHTS_BOTH,
    Quality,
)
from sieve.translate.translation import Translation

LANGUAGES = ("en", "de")
PAIR = "The cat sat on the mat.", "Die Katze saß auf der Matte."


def translated(text: str, *scores: float) -> Translation:
    return Translation(text, 0.0, 1, 1, (), scores)


def scoring(*scores: float) -> Any:
    """Scores every translation alike."""

    def score(
        sources: Sequence[str], targets: Sequence[str], selection: str | None = None
    ) -> list[Translation]:
        assert selection == "none"
        return [translated(target, *scores) for target in targets]

    return score


def test_there_is_a_weight_for_each_feature() -> None:
    alone, both = Quality(None, LANGUAGES), Quality(scoring(-1.0), LANGUAGES)
    translation = translated(PAIR[1], -1.0)
    (features,), (more,) = (each.features([PAIR[0]], [translation]) for each in (alone, both))
    assert len(features) == len(WEIGHTS_ALONE) == len(FORWARD) + len(FORM)
    assert len(more) == len(WEIGHTS_BOTH) == len(FORWARD) + len(BACKWARD) + len(FORM)


def test_features_by_hand() -> None:
    translation = translated("cccc aaaa Привет", -1.0, -2.0, -3.0, -math.inf, 0.0)
    ((mean, worst, length, copied, words, constant),) = Quality(None, LANGUAGES).features(
        ["aaaa b"], [translation]
    )
    assert mean == pytest.approx(math.exp((-1 - 2 - 3 - 8) / 5))  # −∞ counts as −8
    assert worst == pytest.approx(math.exp((-8 - 3) / 2))  # two of five are a quarter, rounded up
    assert length == pytest.approx(math.log(21 / 11))
    assert constant == 1.0
    assert copied == pytest.approx(1 / 3)
    assert words == pytest.approx(math.log(4))


@pytest.mark.parametrize(
    ("source", "text", "share"),
    [
        ("a b", "cc dd", 1.0),
        ("a b", "cc aaaa Привет", 1 - 6 / 12),
        ("Привет", "cc Привет", 1.0),  # the source has it
        ("a b", "cc cc cc cc cc", 1 / 4),  # one pair of words, four times
        ("a a a a a", "cc cc cc cc cc", 1.0),
        ("a", "", 0.0),
        (" ", "", 1.0),
        ("the dog barked loudly", "the dog barked loudly", 0.0),
        ("the dog barked loudly", "der Dog bellte loudly", 1.0),  # one word of three is not most
        ("Anna Berlin", "Anna Berlin", 1.0),  # names
        ("a", "\ufffd\ufffd", 0.0),
    ],
)
def test_the_share_that_is_sound(source: str, text: str, share: float) -> None:
    assert Quality(None, LANGUAGES).sound(source, text) == pytest.approx(share)


def test_what_is_worse_is_lower() -> None:
    source, good = PAIR
    texts = [good, source, "Die Die Die Die Die Die Die Die Die Die", "\ufffd" * 20, "Die", "", " "]
    quality = Quality(scoring(-0.5), LANGUAGES)
    values = quality.of([source] * len(texts), [translated(text, -0.5) for text in texts])
    assert values[0] == max(values) and values[5] == values[6] == 0.0
    assert all(0.0 <= value <= 1.0 for value in values)
    unsure = translated(good, -3.0)
    assert quality.of([source], [unsure])[0] < values[0]
    assert Quality(scoring(-3.0), LANGUAGES).of([source], [translated(good, -0.5)])[0] < values[0]
    alone = Quality(None, LANGUAGES)
    assert alone.of([source], [unsure]) < alone.of([source], [translated(good, -0.5)])


@pytest.fixture(scope="module")
def folder(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("quality")
    for name in ("xx-yy", "yy-xx"):
        write_model(path / name, toy_data.corpus, int8=True)
    return path


def test_a_translator_opened_with_it_says_it(folder: Path) -> None:
    with_it = sieve.load(folder / "xx-yy", quality=True)
    assert with_it.quality is not None and with_it.quality.backward is not None
    without = sieve.load(folder / "xx-yy")
    lines = ["bda fga", "", "kla bda. Fga kla.\nbda"]
    translations = with_it.translate(lines)
    assert [replace(each, quality=None) for each in translations] == without.translate(lines)
    first, empty, several = (each.quality for each in translations)
    assert first is not None and several is not None and empty is None
    (expected,) = with_it.quality.of(lines[:1], translations[:1])
    assert first == pytest.approx(expected, abs=1e-6)


def test_the_other_direction_can_be_named(folder: Path) -> None:
    named = sieve.load(folder / "xx-yy", quality=folder / "yy-xx").translate("bda fga")
    found = sieve.load(folder / "xx-yy", quality=True).translate("bda fga")
    assert named.quality == found.quality


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(folder / "xx-yy")
    assert main(["translate", model, "--quality", "--json", "bda fga"]) == 0
    assert 0 <= json.loads(capsys.readouterr().out)["quality"] <= 1
    assert main(["translate", model, "--quality", "bda fga"]) == 2
    assert "--quality requires --json" in capsys.readouterr().err
