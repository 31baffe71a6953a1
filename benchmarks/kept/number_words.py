"""Number words of English, German, French, Portuguese and Russian as values.

A run of words is read from left to right: small numbers are added while they fit below what was
read, "hundred" multiplies, a scale such as "million" closes a part. German compounds are taken
apart first.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

SCALES = {
    "en": "thousands? 1000, millions? 1000000, billions? 1000000000, trillions? 1000000000000",
    "de": """tausende?n? 1000, million(?:en)?|mio 1000000, milliarden?|mrd 1000000000,
        billion(?:en)? 1000000000000""",
    "fr": """mille|milliers? 1000, millions? 1000000, milliards? 1000000000,
        billions? 1000000000000""",
    "pt": """mil|milhar(?:es)? 1000, milh(?:ão|ões) 1000000, bilh?(?:ão|ões) 1000000000,
        trilh(?:ão|ões) 1000000000000""",
    "ru": """тысяч(?:[аиуе]|ами)?|тыс 1000, миллион(?:а|ов|ам|ами|ах|е|у|ом)?|млн 1000000,
        миллиард(?:а|ов|ам|ами|ах|е|у|ом)?|млрд 1000000000, триллион(?:а|ов)? 1000000000000""",
}
HUNDREDS = {
    "en": "hundreds?|hundredth",
    "de": "hunderte?n?",
    "fr": "cents?|centaines?|centième",
    "pt": "(?!)",
    "ru": "(?!)",
}
JOINTS = {"en": {"and"}, "de": {"und"}, "fr": {"et"}, "pt": {"e"}, "ru": set[str]()}
SMALL = {
    "en": """one|once|first 1, two|twice|second|both 2, three|thrice|third 3, four|fourth 4,
        five|fifth 5, six|sixth 6, seven|seventh 7, eight|eighth 8, nine|ninth 9, ten|tenth 10,
        eleven|eleventh 11, twelve|twelfth|dozen 12, thirteen(?:th)? 13, fourteen(?:th)? 14,
        fifteen(?:th)? 15, sixteen(?:th)? 16, seventeen(?:th)? 17, eighteen(?:th)? 18,
        nineteen(?:th)? 19, twent(?:y|ies|ieth) 20, thirt(?:y|ies|ieth) 30,
        fort(?:y|ies|ieth) 40, fift(?:y|ies|ieth) 50, sixt(?:y|ies|ieth) 60,
        sevent(?:y|ies|ieth) 70, eight(?:y|ies|ieth) 80, ninet(?:y|ies|ieth) 90""",
    "de": """eins?|eine|einen|einer|eines|einem|erst 1, zwei|zweier|zwo|zweit|beide[nrsm]? 2,
        drei|dreier|dritt 3, viere?|viert 4, fünf|fünft 5, sechse?|sechst 6, sieben|siebt|siebent 7,
        achte?|acht 8, neun|neunt 9, zehne?|zehnt 10, elf|elft 11, zwölf|zwölft|dutzend 12,
        dreizehnt? 13, vierzehnt? 14, fünfzehnt? 15, sechzehnt? 16, siebzehnt? 17, achtzehnt? 18,
        neunzehnt? 19, zwanzig 20, drei(?:ß|ss)ig 30, vierzig 40, fünfzig 50, sechzig 60,
        siebzig 70, achtzig 80, neunzig 90""",
    "fr": """une?|premi(?:er|ère) 1, deux|deuxième|seconde? 2, trois(?:ième)? 3, quatre|quatrième 4,
        cinq|cinquième 5, six(?:ième)? 6, sept(?:ième)? 7, huit(?:ième)? 8, neuf|neuvième 9,
        dix(?:ième)?|dizaines? 10, onze|onzième 11, douze|douzième|douzaines? 12, treize|treizième
        13, quatorze|quatorzième 14, quinze|quinzième|quinzaine 15, seize|seizième 16,
        vingts?|vingtième|vingtaine 20, trente|trentième|trentaine 30, quarante|quarantième 40,
        cinquante|cinquantième 50, soixante|soixantième 60, septante 70, huitante|octante 80,
        nonante 90""",
    "pt": """uma?|primeir[oa]s? 1, dois|duas|segund[oa]s?|amb[oa]s 2, três|terceir[oa]s? 3,
        quatro|quart[oa]s? 4, cinco|quint[oa]s? 5, seis|sext[oa]s? 6, sete|sétim[oa]s? 7,
        oito|oitav[oa]s? 8, nove|non[oa]s? 9, dez|décim[oa]s?|dezenas? 10, onze 11,
        doze|dúzias? 12, treze 13, catorze|quatorze 14, quinze 15, dezesseis|dezasseis 16,
        dezessete|dezassete 17, dezoito 18, dezenove|dezanove 19, vinte|vigésim[oa] 20,
        trinta|trigésim[oa] 30, quarenta|quadragésim[oa] 40, cinquenta|quinquagésim[oa] 50,
        sessenta|sexagésim[oa] 60, setenta|septuagésim[oa] 70, oitenta|octogésim[oa] 80,
        noventa|nonagésim[oa] 90, cem|cento|centenas?|centésim[oa] 100, duzent[oa]s 200,
        trezent[oa]s 300, quatrocent[oa]s 400, quinhent[oa]s 500, seiscent[oa]s 600,
        setecent[oa]s 700, oitocent[oa]s 800, novecent[oa]s 900""",
    "ru": """од(?:ин|на|но|ного|ной|ну|ному|ним|ном|них|ни|ними)|перв(?:ый|ая|ое|ого|ой|ую|ом|ому)
        1, дв(?:а|е|ух|ум|умя|ое|оих)|об(?:а|е|оих|еих)|дважды|втор(?:ой|ая|ое|ого|ую|ом|ому) 2,
        тр(?:и|ёх|ех|ём|ем|емя|ое|оих)|трижды|трет(?:ий|ья|ье|ьего|ьей|ью|ьем|ьему) 3,
        четыр(?:е|ёх|ех|ём|ем|ьмя)|четверо|четвёрт\\w\\w|четверт\\w\\w 4,
        пят(?:ь|и|ью|еро|ый|ая|ое|ого|ой|ую|ом) 5, шест(?:ь|и|ью|еро|ой|ая|ое|ого|ую|ом) 6,
        сем(?:ь|и|ью|еро)|седьм(?:ой|ая|ое|ого|ую|ом) 7,
        вос(?:емь|ьми|емью)|восьм(?:ой|ая|ое|ого|ую|ом) 8,
        девят(?:ь|и|ью|ый|ая|ое|ого|ой|ую|ом) 9, десят(?:ь|и|ью|ый|ая|ое|ого|ой|ую|ом|ков|ки) 10,
        одиннадцат\\w{1,3} 11, двенадцат\\w{1,3} 12, тринадцат\\w{1,3} 13, четырнадцат\\w{1,3} 14,
        пятнадцат\\w{1,3} 15, шестнадцат\\w{1,3} 16, семнадцат\\w{1,3} 17, восемнадцат\\w{1,3} 18,
        девятнадцат\\w{1,3} 19, двадцат\\w{1,3} 20, тридцат\\w{1,3} 30, сорок(?:а|ов\\w\\w)? 40,
        пят(?:ьдесят|идесят)\\w{0,3} 50, шест(?:ьдесят|идесят)\\w{0,3} 60,
        сем(?:ьдесят|идесят)\\w{0,3} 70, вос(?:емьдесят|ьмидесят)\\w{0,3} 80, девяност\\w{1,3} 90,
        ст[оа]|сот(?:ый|ая|ое|ни|ен)? 100, двести|двухсот 200, триста|тр[её]хсот 300,
        четыреста|четыр[её]хсот 400, пятьсот|пятисот 500, шестьсот|шестисот 600,
        семьсот|семисот 700, восемьсот|восьмисот 800, девятьсот|девятисот 900""",
}
_ENDINGS = re.compile(
    r"mal|fach|(?:tägig|jährig|stündig|wöchig|monatig|minütig|köpfig|stöckig|teilig|stellig|seitig)"
    r"(?:e[nrsm]?)?|fache[nrsm]?|(?:s?t)?e[nrsm]?|s?t"
)


@dataclass
class _Run:
    """A number that is being read."""

    language: str
    total: int = 0
    current: int = 0
    words: int = 0
    scale: int = 10**18
    _last: int = field(default=0)

    def add(self, value: int) -> bool:
        """Whether a small number fits behind what was read."""
        if self.language == "fr" and value == 20 and self._last == 4:
            self.current += 76  # quatre-vingts
        elif self._fits(value):
            self.current += value
        else:
            return False
        self._last, self.words = value, self.words + 1
        return True

    def _fits(self, value: int) -> bool:
        if not self.words or (not self.current and value < self.scale):
            return True
        if self.language == "de":
            return False  # compounds come whole
        rest = self.current % 100
        if value >= 100:
            return False
        if value >= 20:
            return self.current >= 100 and rest == 0
        if value >= 10:
            return (self.current >= 100 and rest == 0) or (
                self.language == "fr" and rest in (60, 80)
            )
        if self.language == "fr" and value in (7, 8, 9) and self._last == 10:
            return True
        return self.current % 10 == 0 and rest != 10

    def multiply(self, value: int) -> bool:
        """Whether "hundred" or a scale fits behind what was read."""
        if value == 100:
            if self.current >= 100 or (self.words and not self.current):
                return False
            self.current = max(1, self.current) * 100
        elif value < self.scale:
            self.total += max(1, self.current) * value if self.current or not self.words else 0
            self.current, self.scale = 0, value
        elif self.total and not self.current:
            self.total, self.scale = self.total * value, value  # mil milhões
        else:
            return False
        self._last, self.words = value, self.words + 1
        return True

    @property
    def value(self) -> int:
        return self.total + self.current


_Entries = list[tuple[re.Pattern[str], int]]


@cache
def _patterns(table: str) -> _Entries:
    entries = (entry.rsplit(" ", 1) for entry in re.split(r",(?!\d)", " ".join(table.split())))
    return [(re.compile(words.strip()), int(value)) for words, value in entries]


def _listed(word: str, table: str) -> int | None:
    for pattern, value in _patterns(table):
        if pattern.fullmatch(word):
            return value
    return None


@cache
def small(word: str, language: str) -> int | None:
    """The value of a word below a thousand (of a German compound: below a million)."""
    if language == "de":
        return _german(word)
    return _listed(word, SMALL[language])


def _german(word: str) -> int | None:
    ends = (word[at:] for at in range(len(word), 1, -1))
    for end in ends:
        if not end or _ENDINGS.fullmatch(end):
            value = _compound(word[: len(word) - len(end)])
            if value is not None:
                return value
    return None


def _compound(word: str) -> int | None:
    for part, size in (("tausend", 1000), ("hundert", 100)):
        before, joint, after = word.partition(part)
        if joint and word != part:
            factor = _compound(before) if before else 1
            rest = _compound(after.removeprefix("und")) if after else 0
            return None if factor is None or rest is None else factor * size + rest
    units, joint, tens = word.partition("und")
    if joint and units and tens:
        first, second = _listed(units, SMALL["de"]), _listed(tens, SMALL["de"])
        return first + second if first and second and first < 10 <= second < 100 else None
    return _listed(word, SMALL["de"])


@cache
def scale(word: str, language: str) -> int | None:
    """What a word multiplies by: 1000 for "thousand"."""
    if re.fullmatch(HUNDREDS[language], word):
        return 100
    return _listed(word, SCALES[language])


def read(words: Sequence[str], language: str) -> list[int]:
    """The numbers that neighbouring words say, in order.

    Args:
        words: In lower case, hyphens taken out; an empty word breaks a number.
        language: `en`, `de`, `fr`, `pt` or `ru`.
    """
    values: list[int] = []
    run = _Run(language)
    for word in words:
        if word in JOINTS[language] and run.words:
            continue
        run = _step(run, word, values)
    return [*values, run.value] if run.words else values


def _step(run: _Run, word: str, values: list[int]) -> _Run:
    language = run.language
    factor, value = scale(word, language), small(word, language) if word else None
    fits = (
        run.multiply(factor)
        if factor is not None
        else run.add(value)
        if value is not None
        else False
    )
    if fits:
        return run
    if run.words:
        values.append(run.value)
    fresh = _Run(language)
    if factor is not None:
        fresh.multiply(factor)
    elif value is not None:
        fresh.add(value)
    return fresh
