"""A dial that speaks of recall and of words."""

import math

import pytest

from sieve.errors import ConfigError, ModelError
from sieve.selection.dial import Dial, DialPoint
from sieve.selection.parsing import Resources, parse_selection
from sieve.selection.selectors import NeuralSelection, Union

DIAL = Dial(
    100,
    (
        DialPoint(2.0, 0.9, 100.0, 200.0),
        DialPoint(0.0, 0.99, 500.0, 900.0),
        DialPoint(-2.0, 0.999, 900.0, 1500.0),
    ),
)
CALIBRATED = Resources(threshold=0.9, least=64, dial=DIAL)


@pytest.mark.parametrize(("recall", "odds"), [(0.5, 2.0), (0.9, 2.0), (0.95, 0.0), (0.999, -2.0)])
def test_the_smallest_sets_that_reach_a_recall(recall: float, odds: float) -> None:
    assert DIAL.for_recall(recall) == pytest.approx(1 / (1 + math.exp(-odds)))


@pytest.mark.parametrize(("words", "odds"), [(200, 2.0), (899, 2.0), (900, 0.0), (9999, -2.0)])
def test_the_largest_sets_that_fit(words: int, odds: float) -> None:
    assert DIAL.for_size(words) == pytest.approx(1 / (1 + math.exp(-odds)))


def test_out_of_reach() -> None:
    with pytest.raises(ConfigError, match=r"calibrated up to 0.99900; use --lossless"):
        DIAL.for_recall(0.9999)
    with pytest.raises(
        ConfigError, match=r"maximum shortlist size: got 100, expected at least 200"
    ):
        DIAL.for_size(100)
    for recall in (0.0, 1.0, -1.0, math.nan):
        with pytest.raises(ConfigError, match="expected above 0 and below 1"):
            DIAL.for_recall(recall)


def test_kept_as_json() -> None:
    assert Dial.from_json(DIAL.as_json(), "here") == DIAL


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        {"sentences": 1},
        {"sentences": 1, "points": []},
        {"sentences": "x", "points": [[1, 1, 1, 1]]},
        {"sentences": 1, "points": [[1, 2, 3]]},
        {"sentences": 1, "points": [[1, 2, 3, 4]]},
        {"sentences": 1, "points": [[math.nan, 1, 3, 4]]},
        {"sentences": 1, "points": 7},
        {"sentences": math.inf, "points": [[1, 1, 3, 4]]},
        {"sentences": -1, "points": [[1, 1, 3, 4]]},
        {"sentences": 1, "points": [[-1e9, 1, 3, 4]]},  # its λ is no number
        {"sentences": 1, "points": [[1, 1, math.inf, 4]]},
        {"sentences": 1, "points": [[1, 1, 3, math.nan]]},
        {"sentences": 1, "points": [[1, 1, -3, 4]]},
        {"sentences": 1, "points": [[10**400, 1, 3, 4]]},
        {"sentences": 1, "points": [[1, 0.9, 3, 4], [2, 0.9, 3, 4]]},  # not by λ
        {"sentences": 1, "points": [[1, 0.9, 3, 4], [1, 0.9, 3, 4]]},
        {"sentences": 1, "points": [[2, 0.9, 3, 4], [1, 0.8, 3, 4]]},  # more tokens, less recall
        {"sentences": 1, "points": [[2, 0.9, 3, 4], [1, 0.9, 2, 4]]},
    ],
)
def test_damaged(content: object) -> None:
    with pytest.raises(ModelError, match="here: the calibration is damaged"):
        Dial.from_json(content, "here")


def test_selections() -> None:
    found = parse_selection("nvs:recall=0.95", CALIBRATED)
    assert found == NeuralSelection(DIAL.for_recall(0.95), 64)
    assert parse_selection("nvs:size=900", CALIBRATED) == NeuralSelection(0.5, 64)
    assert parse_selection("nvs:words=900", CALIBRATED) == NeuralSelection(0.5, 64)  # its old name
    assert parse_selection("nvs:0.7:12", CALIBRATED) == NeuralSelection(0.7, 12)
    assert parse_selection("nvs:0.7", CALIBRATED) == NeuralSelection(0.7)
    assert parse_selection(None, CALIBRATED) == NeuralSelection(0.9, 64)
    assert not isinstance(parse_selection("nvs", CALIBRATED), Union)
    assert str(NeuralSelection(0.7, 12)) == "nvs:0.7:12"


@pytest.mark.parametrize("text", ["nvs:recall=x", "nvs:size=1.5", "nvs:0.9:x", "nvs:0.9:-3"])
def test_bad_numbers(text: str) -> None:
    with pytest.raises(ConfigError, match="expected"):
        parse_selection(text, CALIBRATED)


def test_not_calibrated() -> None:
    with pytest.raises(ModelError, match="was not calibrated; run sieve calibrate"):
        parse_selection("nvs:recall=0.9", Resources(threshold=0.9))
