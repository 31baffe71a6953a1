"""What a translation has that it should not have, by hand."""

import pytest

from kept.faults import faults, invented, longest_repeat, loops, markup_broken

LANGUAGES = ("en", "de")


@pytest.mark.parametrize(
    ("words", "times"),
    [("", 0), ("a b c", 1), ("a a", 2), ("a b a b a b", 3), ("x a b c a b c y", 2), ("a b a", 1)],
)
def test_longest_repeat(words: str, times: int) -> None:
    assert longest_repeat(words.split()) == times


@pytest.mark.parametrize(
    ("source", "output", "looping"),
    [
        ("Press <F5>.", "Press Press Press Press", True),
        ("ha ha ha ha", "ha ha ha ha", False),
        ("Good.", "Gut, sehr gut, sehr gut.", False),
        ("Good.", "die-Kapie-Kapie-Kapie-Kapie", True),
        ("Good.", "vancularcularcular", True),
        ("Good.", "a b c d e f g h i j k l m n o p q r s t u v w x", True),
    ],
)
def test_loops(source: str, output: str, looping: bool) -> None:
    assert loops(source, output) is looping


@pytest.mark.parametrize(
    ("source", "output", "count"),
    [
        ("I have 18 cats.", "Ich habe 18 Katzen.", 0),
        ("I have 18 cats.", "Ich habe 19 Katzen.", 1),
        ("forty-eight birds", "zweiundvierzig Vögel", 1),
        ("both birds", "zwei Vögel", 0),
        ("at 2:30 pm", "um 14.30 Uhr", 0),
        ("on 12 March", "am 12.3.", 0),
        ("1,234 euros", "1.234 Euro", 0),
    ],
)
def test_invented_numbers(source: str, output: str, count: int) -> None:
    assert len(invented(source, output, LANGUAGES)) == count


@pytest.mark.parametrize(
    ("source", "output", "broken"),
    [
        ("<b>ready</b> now", "jetzt <b>fertig</b>", False),
        ("<b>ready</b> now", "jetzt </b>fertig<b>", True),
        ("<b>ready</b> now", "jetzt fertig", True),
        ("<br/> now", "jetzt <br/>", False),
        ("5 > 3", "5 größer als 3", True),
        ("no markup", "<b>keins", True),
    ],
)
def test_markup_broken(source: str, output: str, broken: bool) -> None:
    assert markup_broken(source, output) is broken


def test_faults_have_names() -> None:
    assert faults("Hello.", "", LANGUAGES) == {"empty"}
    assert faults("Hello.", "Hallo\ufffd.", LANGUAGES) == {"replacement characters"}
    assert faults("Hello.", "Hallo.", LANGUAGES) == set()
