"""Scores of ratings: by hand, against scipy, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sieve.errors import InputError
from sieve.evaluate.human.human_sample import Key, SampleOptions, SystemOutputs, as_csv, draw
from sieve.evaluate.human.human_score import agreement, score
from sieve.evaluate.human.human_sheets import Ratings, read_key, read_ratings
from sieve.evaluate.present.human_table import human_table
from sieve.files import write_json

scipy_stats = pytest.importorskip("scipy.stats")


def ratings(values: Any, systems: tuple[str, ...] = ("none", "nvs")) -> Ratings:
    array = np.array(values, dtype=float)
    names = tuple(f"a{n}.csv" for n in range(len(array)))
    return Ratings("toy", systems, names, 0, array)


def test_by_hand() -> None:
    # two annotators, three segments; segment means: none 4, 5, 3; nvs 5, 5, 4
    values = [[[4, 5], [5, 5], [2, 4]], [[4, 5], [5, 5], [4, 4]]]
    found = score(ratings(values), "none")
    base, nvs = found.systems
    assert (base.rating, base.normalized.value, base.p_value) == (4.0, 100.0, None)
    # differences 1, 0, 1: mean 2/3, deviation 0.57735, error 1/3, t(2) at 97.5 % 4.302653
    assert nvs.rating == pytest.approx(14 / 3)
    assert nvs.normalized.value == pytest.approx(100 * (14 / 3) / 4)
    assert nvs.normalized.interval == pytest.approx(100 * 4.302653 / 3 / 4, rel=1e-6)
    # t = 2 with 2 degrees of freedom: p = 1 − 2/√(2 + 4)
    assert nvs.p_value == pytest.approx(1 - 2 / np.sqrt(6))
    assert nvs.by_annotator == pytest.approx((100 * 14 / 11, 100 * 14 / 13))
    row = human_table(found).rows[1]
    assert row[:4] == ("nvs", "4.67", "116.7 ±35.9", "0.184")


@pytest.mark.parametrize("seed", range(3))
def test_against_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(5, 31, (3, 50, 4)) / 5
    found = score(ratings(values, ("a", "b", "c", "d")), "b")
    assert [one.system for one in found.systems] == ["b", "a", "c", "d"]
    means = values.mean(axis=0)  # (segments, systems)
    for one in found.systems[1:]:
        own, base = means[:, "abcd".index(one.system)], means[:, 1]
        test = scipy_stats.ttest_rel(own, base)
        low, high = test.confidence_interval(0.95)
        assert one.p_value == pytest.approx(test.pvalue, rel=1e-9)
        assert one.normalized.value == pytest.approx(100 * own.mean() / base.mean())
        assert one.normalized.interval == pytest.approx(
            100 * (high - low) / 2 / base.mean(), rel=1e-9
        )
    flat = values.reshape(3, -1)
    pearson = [scipy_stats.pearsonr(flat[a], flat[b])[0] for a, b in ((0, 1), (0, 2), (1, 2))]
    assert found.agreement.pearson == pytest.approx(np.mean(pearson))


def test_agreement_by_hand() -> None:
    # outputs rated (1, 2), (3, 3): observed (2−1)²/2 / 2 = 0.25; all of 1, 2, 3, 3: variance
    # (1.5625 + 0.0625 + 0.5625 + 0.5625) / 3 = 0.916667; α = 1 − 0.25 / 0.916667
    found = agreement(np.array([[[1.0, 3.0]], [[2.0, 3.0]]]))
    assert found.alpha == pytest.approx(1 - 0.25 / (2.75 / 3))
    assert found.pearson == pytest.approx(1.0) and found.order == 1.0
    # one pair of systems, ordered alike on the first segment of two: the second is a tie for one
    two = agreement(np.array([[[1.0, 3.0], [4.0, 4.0]], [[2.0, 3.0], [4.0, 5.0]]]))
    assert two.order == 0.5


def test_agreement_that_cannot_be_said() -> None:
    alone = agreement(np.array([[[1.0, 3.0]]]))
    assert (alone.alpha, alone.pearson, alone.order) == (None, None, None)
    flat = agreement(np.full((2, 3, 2), 4.0))
    assert (flat.alpha, flat.pearson, flat.order) == (None, None, 1.0)
    table = human_table(score(ratings(np.full((2, 3, 2), 4.0)), "none"))
    assert "Krippendorff's α -" in table.notes[1]
    assert table.rows[1][2:4] == ("100.0 ±0.0", "1.000")


OUTPUTS = SystemOutputs(
    "toy", ("a", "b", "c"), {"none": ("p", "q", "r"), "nvs": ("s", "t", "u")}, ("en", "de")
)
GIVEN = {("none", 1): 4.2, ("nvs", 1): 5.0, ("none", 2): 1.0, ("nvs", 2): 6.0, ("none", 3): 3.4}


@pytest.fixture
def sample(tmp_path: Path) -> tuple[Key, list[Path]]:
    """Filled sheets: a rating depends on system and line; what is not GIVEN is 2.4."""
    from dataclasses import asdict

    key, sheets = draw(OUTPUTS, SampleOptions(annotators=2))
    write_json(tmp_path / "key.json", asdict(key))
    paths = []
    for number, sheet in enumerate(sheets):
        header, *lines = as_csv(sheet).splitlines()
        filled = [header]
        for item, line in zip(sheet.items, lines, strict=True):
            row = key.lines[item.segment]
            order = key.sheets[sheet.name][item.segment]
            cells = [str(GIVEN.get((system, row), 2.4)) for system in order]
            filled.append(line.removesuffix(",,") + "," + ",".join(cells))
        paths.append(tmp_path / f"sheet-{number}.csv")
        paths[-1].write_text("\r\n".join(filled) + "\r\n", encoding="utf-8-sig")
    return read_key(tmp_path / "key.json"), paths


def test_ratings_find_their_systems(sample: tuple[Key, list[Path]]) -> None:
    key, paths = sample
    found = read_ratings(key, paths)
    assert found.systems == ("none", "nvs") and found.missing == 0
    assert found.values.tolist() == 2 * [[[4.2, 5.0], [1.0, 6.0], [3.4, 2.4]]]
    assert read_ratings(key, paths[1:]).missing == 1


def test_as_a_spreadsheet_saves_it(sample: tuple[Key, list[Path]]) -> None:
    key, paths = sample
    text = paths[0].read_text(encoding="utf-8-sig").replace(",", ";").replace(".", ",")
    paths[0].write_text(text, encoding="cp1252")
    assert read_ratings(key, paths).values[0].tolist() == [[4.2, 5.0], [1.0, 6.0], [3.4, 2.4]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("4.2", "", "1 of 6 ratings are missing, the first of segment and output s1"),
        ("4.2", "6.2", "got '6.2', expected a rating from 1 to 6 in steps of 0.2"),
        ("4.2", "0.8", "segment s1, output"),
        ("4.2", "4.3", "got '4.3', expected a rating"),
        ("4.2", "good", "got 'good', expected a rating"),
        ("4.2", "nan", "got 'nan', expected a rating"),
        ("s2", "s9", "has the segment 's9', which was not sampled"),
        ("s2", "s1", "segment s1 is there twice"),
        ("rating B", "note", "has no column 'rating B'; expected the columns of the sheet"),
        ("-1", "-7", "the key is another sample's"),
    ],
)
def test_what_is_refused(sample: tuple[Key, list[Path]], old: str, new: str, message: str) -> None:
    key, paths = sample
    text = paths[0].read_text(encoding="utf-8-sig")
    assert old in text
    paths[0].write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_ratings(key, paths)
    assert message in str(error.value) and "\n" not in str(error.value)
    assert str(paths[0]) in str(error.value)


def test_other_files_are_refused(sample: tuple[Key, list[Path]], tmp_path: Path) -> None:
    key, paths = sample
    with pytest.raises(InputError, match=r"is the same sheet \(.*\) as"):
        read_ratings(key, [paths[0], paths[0]])
    lines = paths[0].read_text(encoding="utf-8").splitlines(keepends=True)
    paths[0].write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(InputError, match="2 of 6 ratings are missing"):
        read_ratings(key, paths)
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InputError, match="is empty, expected a filled sheet"):
        read_ratings(key, [tmp_path / "empty.csv"])
    with pytest.raises(InputError, match="cannot be read"):
        read_ratings(key, [tmp_path / "nowhere.csv"])
    with pytest.raises(InputError, match="got no sheets"):
        read_ratings(key, [])
    (tmp_path / "other.json").write_text('{"a": 1}')
    with pytest.raises(InputError, match="is no key of `sieve human sample`"):
        read_key(tmp_path / "other.json")
    with pytest.raises(InputError, match=r"baseline 'nsv': was not rated"):
        score(ratings([[[1, 2]]]), "nsv")
