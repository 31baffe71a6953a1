"""The lines of the benchmark themselves."""

from pathlib import Path

import pytest

from kept import generating
from kept.collecting import collected, wanted, written
from kept.counting import tally
from kept.generating import HALVES, Case, generate
from kept.wants import Want, judge

SETS = Path(generating.__file__).parent
LANGUAGES = ("en", "de", "pt", "fr")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("half", HALVES)
def test_a_line_that_is_left_as_it_is_keeps_everything(half: str, language: str) -> None:
    """The scorer reads every number, time and date that the generator writes."""
    for case in [*generate(SETS, half, language), *written(SETS, half, language)]:
        lost = [each.want for each in judge(case.wants, case.source, language) if not each.kept]
        assert not lost, case.source


def test_the_set_is_as_large_as_it_says() -> None:
    pairs = [(half, language) for half in HALVES for language in LANGUAGES]
    assert sum(len(list(generate(SETS, *pair))) for pair in pairs) >= 5000
    assert sum(len(list(written(SETS, *pair))) for pair in pairs) >= 500
    for half, language in pairs:
        templates = {case.category for case in generate(SETS, half, language)}
        assert {"count", "placeholder", "markup", "script", "dose", "law", "code"} <= templates


def test_lines_are_the_same_every_time() -> None:
    assert list(generate(SETS, "open", "en")) == list(generate(SETS, "open", "en"))


def test_what_must_come_through_is_found_by_rule() -> None:
    category, wants = wanted(
        "Write to a.b@example.com at 5:30 pm about `x` and 1,250 {name}.", "en"
    )
    assert category == "address"
    assert [want.text for want in wants] == ["a.b@example.com", "5:30", "`x`", "1,250", "{name}"]
    assert [int(value) for value in wants[1].values] == [17, 30]


@pytest.mark.parametrize(
    ("language", "source", "output"),
    [
        ("en", "at 6 pm or 12:30 a.m.", "um 18 Uhr oder 0.30 Uhr"),
        ("de", "um 16:50 Uhr", "at 4:50pm"),
        ("de", "20.000.000 Euro für die Tabelle(n)", "20,000,000 euros for the table(s)"),
    ],
)
def test_other_ways_to_say_the_same(language: str, source: str, output: str) -> None:
    target = "en" if language == "de" else "de"
    assert all(each.kept for each in judge(wanted(source, language)[1], output, target))


def test_collected_lines_are_left_out_where_the_data_is_absent(tmp_path: Path) -> None:
    assert list(collected(tmp_path, "en")) == []
    (tmp_path / "test").mkdir()
    text = "Nothing to keep in this line.\nThere are 17 lines in this file.\n"
    (tmp_path / "test" / "some.en-de.en").write_text(text)
    (case,) = collected(tmp_path, "en")
    assert (case.category, [want.text for want in case.wants]) == ("collected: number", ["17"])


def test_shares_are_per_thing_and_faults_per_line() -> None:
    wants = (Want("verbatim", "{a}"), Want("verbatim", "{b}"))
    cases = [Case("placeholder", "{a} {b}", wants, "open")] * 2
    counts = tally(cases, ["{a} {b}", "{a} \ufffd"], ("en", "de"))
    assert counts["all"]["verbatim"]["share"] == 0.75
    assert counts["categories"]["placeholder"]["lost"] == [["{a} {b}", "{a} \ufffd", "{b}"]]
    assert counts["faults"]["replacement characters"] == 1
