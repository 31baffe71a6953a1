"""Numbers, placeholders and markup through the built-in models."""

import re

import pytest

import sieve
from sieve.bundle.catalogue import built_in
from sieve.repair.garbage import repeats
from sieve.repair.rules.spoken import SPOKEN
from sieve.translate.translator import Translator


@pytest.fixture(scope="module", params=["en-de", "de-en"])
def translator(request: pytest.FixtureRequest) -> Translator:
    if request.param not in built_in():
        pytest.skip(f"the built-in model {request.param} is not here")
    return sieve.load(request.param, threads=1)


COUNTED = {"en": "I have {} cats.", "de": "Ich habe {} Katzen."}
PARTS = ["{name}", "{0}", "%d", "%(count)s", "$HOME", "<Enter>", "{{ user.name }}", "`git commit`",
         "https://a.org/x?b=1", "j.doe@site.com", "/usr/local/lib", "#release", "@maria", "東京",
         "&lt;Acme&gt;", "192.168.0.1"]  # fmt: skip
AROUND = {
    "en": ["Press {} to continue", "The file {} was not found.", "See {0} and {0}, or {0}!"],
    "de": ["Drücken Sie {}, um fortzufahren", "Siehe {0} und {0} oder {0}!"],
}


def test_numbers(translator: Translator) -> None:
    frame = COUNTED[translator.languages[0]]
    numbers = [*range(13, 100, 3), *range(100, 9999, 373)]
    for number, translation in zip(
        numbers, translator.translate([frame.format(number) for number in numbers]), strict=True
    ):
        figures = re.sub(r"(?<=\d)[.,](?=\d{3})", "", translation.text)
        words = SPOKEN[translator.languages[1]].read(translation.text)
        assert str(number) in figures or number in [spoken.value for spoken in words]
        assert translation.warnings == ()


def test_parts(translator: Translator) -> None:
    for frame in AROUND[translator.languages[0]]:
        lines = [frame.format(part) for part in PARTS]
        for line, part, translation in zip(lines, PARTS, translator.translate(lines), strict=True):
            assert translation.text.count(part) == line.count(part), translation.text
            assert "\ufffd" not in translation.text
            assert not repeats(translation.text)


@pytest.mark.parametrize(
    "line",
    [
        "{a}٣\\n\u0301word ",
        "III <b> \u0301 ...٣ ( 12 {a} one ",
        "million🎉{a}http://a.b/c $5 ٣",
        "see http://a.b/c{a}</b>Straße",
    ],
)
def test_parts_of_lines_that_make_no_sense(translator: Translator, line: str) -> None:
    text = translator.translate(line).text
    for part in ("{a}", "<b>", "</b>", "%d", "٣"):
        assert text.count(part) == line.count(part), text
