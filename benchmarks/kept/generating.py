"""Lines from templates: what stands in a slot is drawn at random and is what must come through.

A template is a line `category | text with ⟦slot⟧`; `⟦=text⟧` is the text itself, to be kept.
"""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from kept.numerals import DECIMAL_MARK, roman
from kept.wants import Want

HALVES = ("open", "heldout")
FILLED = {"count": 36}
"""How often a template of a category is filled."""
FILLED_OTHERWISE = 12
_GROUP = {"en": ",", "de": ".", "pt": ".", "fr": "\u202f"}
_SLOT = re.compile("⟦(.+?)⟧")
_WORDS = {
    "en": "2 two 3 three 4 four 5 five 6 six 7 seven 8 eight 9 nine 10 ten 11 eleven 12 twelve "
    "15 fifteen 17 seventeen 20 twenty 21 twenty-one 30 thirty 48 forty-eight 90 ninety",
    "de": "2 zwei 3 drei 4 vier 5 fünf 6 sechs 7 sieben 8 acht 9 neun 10 zehn 11 elf 12 zwölf "
    "15 fünfzehn 17 siebzehn 20 zwanzig 21 einundzwanzig 30 dreißig 48 achtundvierzig 90 neunzig",
    "fr": "2 deux 3 trois 4 quatre 5 cinq 6 six 7 sept 8 huit 9 neuf 10 dix 11 onze 12 douze "
    "15 quinze 17 dix-sept 20 vingt 22 vingt-deux 30 trente 48 quarante-huit 90 quatre-vingt-dix",
    "pt": "3 três 4 quatro 5 cinco 6 seis 7 sete 8 oito 9 nove 10 dez 11 onze 12 doze "
    "15 quinze 17 dezessete 20 vinte 23 vinte_e_três 30 trinta 48 quarenta_e_oito 90 noventa",
}
_MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro "
    "dezembro",
}
_MILLIONS = {
    "en": ("million", "billion"),
    "de": ("Millionen", "Milliarden"),
    "fr": ("millions", "milliards"),
    "pt": ("milhões", "bilhões"),
}
_ROMANS = "II|III|IV|VI|VII|VIII|IX|XI|XII|XIV|XVI|XIX|XX"
_PHONES = "+49 30 901820|555-0142|(020) 7946 0958|01 44 55 66 77|+351 21 345 6789|0800 123456"
_DOSES = "0.5|2.5|7.5|12.5|25|50|75|125|250|400|1250"
_REFERENCES = "2016/679|1049/2001|95/46|2019/1024|3/2011|867/2004"


@dataclass(frozen=True)
class Case:
    """A line to translate and what must come through."""

    category: str
    source: str
    wants: tuple[Want, ...]
    half: str


@dataclass(frozen=True)
class Filler:
    """Draws what stands in slots."""

    language: str
    random: random.Random
    pools: dict[str, list[str]]

    def slot(self, name: str) -> tuple[str, list[Want]]:
        """A text and what of it must come through."""
        if name.startswith("="):
            return name[1:], [Want("verbatim", name[1:])]
        if name in self.pools:
            text = self.random.choice(self.pools[name])
            return text, [Want("verbatim", text)]
        draw: dict[str, Callable[[], tuple[str, list[Want]]]] = {
            "n": self._count,
            "n9": lambda: self._number(Decimal(self.random.randint(2, 9))),
            "n99": lambda: self._number(Decimal(self.random.randint(2, 99))),
            "w": self._word,
            "d": lambda: self._number(Decimal(self.random.randint(11, 9989)) / self._tens()),
            "m": lambda: self._number(Decimal(self.random.randint(105, 249999)).scaleb(-2)),
            "r": self._range,
            "o": self._ordinal,
            "date": self._date,
            "t": self._time,
            "scale": self._scale,
            "roman": self._roman,
            "phone": lambda: self._from(_PHONES, "digits"),
            "ref": lambda: self._from(_REFERENCES, "verbatim"),
            "dose": self._dose,
        }
        return draw[name]()

    def _tens(self) -> int:
        return self.random.choice((10, 100))

    def _number(self, amount: Decimal) -> tuple[str, list[Want]]:
        text = f"{amount:,f}" if self.random.random() < 0.5 else f"{amount:f}"
        group, mark = _GROUP[self.language], DECIMAL_MARK[self.language]
        text = text.translate({ord(","): group, ord("."): mark})
        return text, [Want("number", text, (amount,))]

    def _count(self) -> tuple[str, list[Want]]:
        digits = self.random.randint(1, 4)
        low, high = max(2, 10 ** (digits - 1)), 10**digits - 1
        return self._number(Decimal(self.random.randint(low, high)))

    def _word(self) -> tuple[str, list[Want]]:
        words = _WORDS[self.language].split()
        place = self.random.randrange(len(words) // 2)
        text = words[2 * place + 1].replace("_", " ")
        return text, [Want("number", text, (Decimal(words[2 * place]),))]

    def _range(self) -> tuple[str, list[Want]]:
        low = self.random.randint(2, 40)
        high = low + self.random.randint(1, 9)
        wants = [Want("number", str(end), (Decimal(end),)) for end in (low, high)]
        return f"{low}{self.random.choice('-–')}{high}", wants

    def _ordinal(self) -> tuple[str, list[Want]]:
        rank = self.random.randint(2, 99)
        ending = {"de": ".", "fr": "e", "pt": "ª"}.get(self.language) or _english_ending(rank)
        return f"{rank}{ending}", [Want("number", str(rank), (Decimal(rank),))]

    def _date(self) -> tuple[str, list[Want]]:
        day, month = self.random.randint(2, 28), self.random.randint(1, 12)
        year = self.random.randint(1950, 2029)
        name = _MONTHS[self.language].split()[month - 1]
        pattern = {"de": "{0}. {1} {2}", "pt": "{0} de {1} de {2}", "fr": "{0} {1} {2}"}.get(
            self.language, self.random.choice(("{0} {1} {2}", "{1} {0}, {2}"))
        )
        text = pattern.format(day, name, year)
        return text, [Want("date", text, (Decimal(day), Decimal(month), Decimal(year)))]

    def _time(self) -> tuple[str, list[Want]]:
        hour, minute = self.random.randint(6, 22), self.random.randint(1, 11) * 5
        text = {"de": f"{hour}:{minute:02d}"}.get(self.language, f"{hour}h{minute:02d}")
        if self.language == "en":
            hour += hour == 12  # noon is a case of its own
            late = "am" if hour < 12 else "pm"
            text = f"{(hour - 1) % 12 + 1}:{minute:02d} {late}"
        return text, [Want("time", text, (Decimal(hour), Decimal(minute)))]

    def _scale(self) -> tuple[str, list[Want]]:
        amount = Decimal(self.random.randint(21, 98)) / 10
        place = self.random.randrange(2)
        text = str(amount).replace(".", DECIMAL_MARK[self.language])
        text = f"{text} {_MILLIONS[self.language][place]}"
        return text, [Want("number", text, (amount * (10**6, 10**9)[place],))]

    def _roman(self) -> tuple[str, list[Want]]:
        text = self.random.choice(_ROMANS.split("|"))
        return text, [Want("number", text, (Decimal(roman(text)),))]

    def _from(self, choices: str, kind: str) -> tuple[str, list[Want]]:
        text = self.random.choice(choices.split("|"))
        return text, [Want("digits" if kind == "digits" else "verbatim", text)]

    def _dose(self) -> tuple[str, list[Want]]:
        amount = Decimal(self.random.choice(_DOSES.split("|")))
        text, wants = self._number(amount)
        unit = self.random.choice(("mg", "ml", "g", "µg"))
        return f"{text} {unit}", [*wants, Want("unit", unit)]


def _english_ending(rank: int) -> str:
    return "th" if 10 <= rank % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")


def generate(folder: Path, half: str, language: str, seed: int = 20) -> Iterator[Case]:
    """The cases of one half of the templates of a language.

    Args:
        folder: Holds a folder for each half.
        half: `open`, or `heldout`: set aside while repairs are built.
        language: Of the sources.
        seed: Of what is drawn.
    """
    pools: dict[str, list[str]] = {}
    for line in (folder / half / "pools.txt").read_text(encoding="utf-8").splitlines():
        slot, text = line.split(" | ", 1)
        pools.setdefault(slot, []).append(text)
    filler = Filler(language, random.Random(f"{seed} {half} {language}"), pools)
    for line in (folder / half / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        category, template = line.split(" | ", 1)
        for _ in range(FILLED.get(category, FILLED_OTHERWISE)):
            wants: list[Want] = []

            def filled(match: re.Match[str], wants: list[Want] = wants) -> str:
                text, added = filler.slot(match[1])
                wants.extend(added)
                return text

            source = _SLOT.sub(filled, template)
            yield Case(category, source, tuple(wants), half)
