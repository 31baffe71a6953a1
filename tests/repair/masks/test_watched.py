"""Words that stay as they are though a model reads them."""

import pytest

from sieve.repair.masks.watched import lacks, watched

STAY = [
    ("see BH.PHP.001, CVE-2021-44228 and x1", ["BH.PHP.001", "CVE-2021-44228", "x1"]),
    ("in case C-131/12 of 2019/1024 (ISO 9001:2015)", ["C-131/12", "2019/1024", "9001:2015"]),
    ("an MP3 over IPv6, H2O in UTF-8", ["MP3", "IPv6", "H2O", "UTF-8"]),
    ("call getUserName of numpy.ndarray on macOS", ["getUserName", "numpy.ndarray", "macOS"]),
    ("YouTube and System.out.println ≥ ™", ["YouTube", "System.out.println", "≥", "™"]),
    ("a 3D film about the U20-Team", ["3D", "U20"]),
]
MAY_CHANGE = [
    "at 5pm on the 20th, in the 1990s, for 10-year-olds",
    "$5M, 30C, 50MB, 10 km, 24h and 9/11 of 24/7",
    "LehrerInnen, MacArthur, GmbH, PhD, zB, e.g., i.e., U.S. and the EU-27",
    "S.5, Nr.5, and/or, state-of-the-art, UN/EU, 10:30, 1:0",
    "rechtlichenVerständnis",
]


@pytest.mark.parametrize(("line", "expected"), STAY)
def test_stays(line: str, expected: list[str]) -> None:
    assert [line[start:end] for start, end in watched(line)] == expected


@pytest.mark.parametrize("line", MAY_CHANGE)
def test_may_change(line: str) -> None:
    assert list(watched(line)) == []


@pytest.mark.parametrize(
    ("translation", "expected"),
    [("B2B B2B", False), ("B2B", True), ("B2B B2b", True), ("xB2B-B2Bs", False)],
)
def test_what_a_translation_lacks(translation: str, expected: bool) -> None:
    assert lacks("B2B and B2B", translation) is expected
