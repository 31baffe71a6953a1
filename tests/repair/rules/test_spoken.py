"""Words for numbers of five languages, read and added up."""

import pytest

from sieve.repair.rules.spoken import SPOKEN

READ = [
    ("en", "twenty-one, two hundred and fifty, three million four hundred thousand five",
     [21, 250, 3_400_005]),
    ("en", "two and three, nineteen hundred, a thousand and one, ninety nine",
     [2, 3, 1900, 1001, 99]),
    ("en", "the seventh, twenty-third", [7, 23]),
    ("de", "einundzwanzig, zweihundertfünfzig, achtzehn, der achtzehnte, drei Millionen",
     [21, 250, 18, 18, 3_000_000]),
    ("de", "zweitausenddreihundertvierundvierzig, siebenhundertelf, tausendundeins, fünfzehn",
     [2344, 711, 1001, 15]),
    ("de", "unter Hunden, Wunder, Tee", []),
    ("fr", "quatre-vingt-dix-sept, soixante et onze, vingt et un, quatre-vingts, septante",
     [97, 71, 21, 80, 70]),
    ("fr", "deux cent cinquante, mille neuf cents, deux et trois, trois mille",
     [250, 1900, 2, 3, 3000]),
    ("pt", "vinte e dois, duzentos e cinquenta, mil e quinhentos, dois e três",
     [22, 250, 1500, 2, 3]),
    ("pt", "cento e vinte e um, três milhões, dezessete, dezassete", [121, 3_000_000, 17, 17]),
    ("ru", "двадцать один, двести пятьдесят, две тысячи триста, пять миллионов",
     [21, 250, 2300, 5_000_000]),
    ("ru", "двадцать первый, восемнадцатью, сорок два, трёхсот", [21, 18, 42, 300]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "expected"), READ)
def test_numbers(language: str, text: str, expected: list[int]) -> None:
    assert [spoken.value for spoken in SPOKEN[language].read(text)] == expected


UNSURE = [
    ("en", "one", "a second chance"),
    ("de", "ein", "die Elf und halb drei"),
    ("fr", "neuf", "un livre neuf"),
    ("pt", "uma", "segundo ele, na sexta"),
    ("ru", "один", "семью, сорок"),
]


@pytest.mark.parametrize(("language", "word", "text"), UNSURE)
def test_words_that_may_be_others_are_not_missed(language: str, word: str, text: str) -> None:
    assert not any(spoken.certain for spoken in SPOKEN[language].read(f"{word}, {text}"))


SAID = [
    ("en", "both twins, half a dozen", {2, 0.5, 12}),
    ("de", "zweijährig, beide, Dreierpack", {2, 3}),
    ("fr", "une douzaine", {1, 12}),
    ("pt", "ambos, tricampeão", {2, 3}),
    ("ru", "двухлетний, оба", {2}),
]


@pytest.mark.parametrize(("language", "text", "expected"), SAID)
def test_what_words_may_say(language: str, text: str, expected: set[float]) -> None:
    assert expected <= SPOKEN[language].said(text)


def test_no_word_stands_for_another_number() -> None:
    assert 6 not in SPOKEN["en"].said("sixty sixteen")
    assert 8 not in SPOKEN["de"].said("achtzig")
    assert 2 not in SPOKEN["de"].said("zweihundert")


def test_every_number_below_a_million_in_german_and_english() -> None:
    units = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    for t, ten in enumerate(tens, 2):
        for u, unit in enumerate(units, 1):
            [spoken] = SPOKEN["en"].read(f"{ten}-{unit}")
            assert (spoken.value, spoken.certain) == (10 * t + u, True)
            [spoken] = SPOKEN["en"].read(f"{unit} hundred and {ten} {unit}")
            assert spoken.value == 100 * u + 10 * t + u
