"""Number words read as values."""

import pytest

from kept.number_words import read

RUNS = [
    ("en", "twenty one", [21]),
    ("en", "two hundred and five", [205]),
    ("en", "three thousand four hundred and twelve", [3412]),
    ("en", "two three", [2, 3]),
    ("en", "nineteen hundred", [1900]),
    ("en", "two million", [2_000_000]),
    ("en", "twenty first", [21]),
    ("en", "twice a day", [2]),
    ("en", "the cat sat", []),
    ("de", "einundzwanzig", [21]),
    ("de", "einundzwanzigsten", [21]),
    ("de", "dreitausendvierhundertzwölf", [3412]),
    ("de", "zwei millionen dreihunderttausend", [2_300_000]),
    ("de", "dreitägige", [3]),
    ("de", "zweimal", [2]),
    ("de", "dritten", [3]),
    ("de", "hundertfünf", [105]),
    ("de", "hundert", [100]),
    ("de", "dreißigste", [30]),
    ("de", "sechs", [6]),
    ("fr", "quatre vingt dix sept", [97]),
    ("fr", "quatre vingts", [80]),
    ("fr", "soixante et onze", [71]),
    ("fr", "deux cent trois", [203]),
    ("fr", "mille neuf cents", [1900]),
    ("fr", "dix sept", [17]),
    ("fr", "cent vingt quatre", [124]),
    ("pt", "duzentos e trinta e dois", [232]),
    ("pt", "três mil quatrocentos e doze", [3412]),
    ("pt", "dois e três", [2, 3]),
    ("pt", "dois mil milhões", [2_000_000_000]),
    ("pt", "mil e cem", [1100]),
    ("ru", "двадцать один", [21]),
    ("ru", "две тысячи триста", [2300]),
    ("ru", "пяти", [5]),
    ("ru", "сто двадцать пять", [125]),
]


@pytest.mark.parametrize(("language", "words", "values"), RUNS)
def test_a_run_of_words_is_one_number(language: str, words: str, values: list[int]) -> None:
    assert read(words.split(), language) == values
