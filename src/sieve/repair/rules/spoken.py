"""Words for numbers of five languages. Knows how they are spelled and nothing of their grammar."""

from collections.abc import Iterable, Mapping

from sieve.repair.numbers.number_words import NumberWords


def _counted(words: str, first: int = 0, step: int = 1) -> dict[str, int]:
    """Numbers by their words; forms of one number are joined by a stroke."""
    return {
        form: first + step * index
        for index, forms in enumerate(words.split())
        for form in forms.split("/")
    }


def _ended(stems: Mapping[str, int], endings: str) -> dict[str, int]:
    return {stem + ending: value for stem, value in stems.items() for ending in endings.split("/")}


def _hints(**words: Iterable[float]) -> dict[str, tuple[float, ...]]:
    return {word: tuple(values) for word, values in words.items()}


_EN_TENS = "ten twenty thirty forty/fourty fifty sixty seventy eighty ninety"
ENGLISH = NumberWords(
    cardinals={
        **_counted(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
            " fifteen sixteen seventeen eighteen nineteen"
        ),
        **_counted(_EN_TENS, 10, 10),
    },
    ordinals={
        **_counted(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
            " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth",
            1,
        ),
        **_counted("twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth",
                   20, 10),
        "hundredth": 100, "thousandth": 1000,
    },
    scales={"hundred": 100, "thousand": 10**3, "million": 10**6, "mn": 10**6, "m": 10**6,
            "billion": 10**9, "bn": 10**9, "trillion": 10**12, "k": 10**3, "tn": 10**12,
            "millions": 10**6, "billions": 10**9},
    hints=_hints(a=(1,), an=(1,), once=(1,), both=(2,), twice=(2,), double=(2,), doubl=(2,),
                 pair=(2,), couple=(2,), two=(2,), half=(0.5, 2, 30, 50), halv=(2, 0.5),
                 triple=(3,), tripl=(3,), quarter=(4, 0.25, 15, 25), quadr=(4,), dozen=(12,),
                 decade=(10,), centur=(100,), fortnight=(14, 2), noon=(12,), midnight=(0, 24, 12),
                 midday=(12,), no=(0,), without=(0,), nil=(0,), hundreds=(100,), thousands=(1000,),
                 twenties=(20, 1920), thirties=(30, 1930),
                 forties=(40, 1940), fifties=(50, 1950), sixties=(60, 1960), seventies=(70, 1970),
                 eighties=(80, 1980), nineties=(90, 1990), individual=(1,), single=(1,)),
    months=("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    links=frozenset(("and",)),
)  # fmt: skip

_DE_UNITS = "null ein/eins/eine/einen/einem/einer/eines zwei/zwo drei vier fünf/fuenf sechs sieben"
GERMAN = NumberWords(
    cardinals={
        **_counted(
            f"{_DE_UNITS} acht neun zehn elf zwölf/zwoelf dreizehn vierzehn fünfzehn sechzehn"
            " siebzehn achtzehn neunzehn"
        ),
        **_counted("zwanzig dreißig/dreissig vierzig fünfzig sechzig siebzig achtzig neunzig",
                   20, 10),
        "hundert": 100, "tausend": 1000,
    },
    ordinals=_ended(_counted("erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft"
                             " zwölft", 1), "e/en/er/es/em"),
    scales={"hundert": 100, "tausend": 10**3, "million": 10**6, "millionen": 10**6, "mio": 10**6,
            "mio.": 10**6, "milliarde": 10**9, "milliarden": 10**9, "mrd": 10**9, "mrd.": 10**9,
            "billion": 10**12, "billionen": 10**12, "tsd.": 10**3},
    hints=_hints(beid=(2,), doppel=(2,), verdoppel=(2,), halb=(0.5, 2, 30, 50), hälfte=(0.5, 2, 50),
                 anderthalb=(1.5,), eineinhalb=(1.5,), paar=(2,), einmal=(1,), einzig=(1,),
                 dutzend=(12,), jahrzehnt=(10,), jahrhundert=(100,), viertel=(4, 0.25, 15, 25),
                 mittag=(12,), mitternacht=(0, 24, 12), kein=(0,), ohne=(0,),
                 zwanziger=(20, 1920), dreißiger=(30, 1930), vierziger=(40, 1940),
                 fünfziger=(50, 1950), sechziger=(60, 1960), siebziger=(70, 1970),
                 achtziger=(80, 1980), neunziger=(90, 1990)),
    months=("jan", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez"),
    unsure=frozenset(("acht", "sieben", "hundert", "tausend")),
    compound=True,
)  # fmt: skip

FRENCH = NumberWords(
    cardinals={
        **_counted(
            "zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze"
            " quinze seize"
        ),
        **_counted("vingt/vingts trente quarante cinquante soixante septante huitante/octante"
                   " nonante", 20, 10),
    },
    ordinals={
        "premier": 1, "première": 1, "second": 2, "seconde": 2,
        **_ended(_counted("deux trois quatr cinqu six sept huit neuv dix onz douz treiz quatorz"
                          " quinz seiz", 2), "ième/ièmes"),
        "vingtième": 20, "trentième": 30, "centième": 100,
    },
    scales={"cent": 100, "cents": 100, "mille": 10**3, "million": 10**6, "millions": 10**6,
            "milliard": 10**9, "milliards": 10**9, "billion": 10**12, "billions": 10**12},
    hints=_hints(double=(2,), doubl=(2,), couple=(2,), paire=(2,), demi=(0.5, 2, 30, 50),
                 moitié=(0.5, 2, 50), triple=(3,), tiers=(3,), quart=(4, 0.25, 15, 25),
                 dizaine=(10,), douzaine=(12,), quinzaine=(15, 14), vingtaine=(20,),
                 centaine=(100,), millier=(1000,), décennie=(10,), siècle=(100,), midi=(12,),
                 minuit=(0, 24, 12), aucun=(0,), sans=(0,), pas=(0,),
                 seul=(1,), ensemble=(2,)),
    months=("jan", "fév", "mars", "avr", "mai", "juin", "juil", "août", "sep", "oct", "nov", "déc"),
    unsure=frozenset(("neuf", "un", "une")),
    links=frozenset(("et",)),
    linked_tens=True,
    twenties=True,
)  # fmt: skip

PORTUGUESE = NumberWords(
    cardinals={
        **_counted(
            "zero um/uma dois/duas três/tres quatro cinco seis sete oito nove dez onze doze treze"
            " catorze/quatorze quinze dezesseis/dezasseis dezessete/dezassete dezoito"
            " dezenove/dezanove"
        ),
        **_counted("vinte trinta quarenta cinquenta sessenta setenta oitenta noventa", 20, 10),
        **_counted("cem/cento duzentos/duzentas trezentos/trezentas quatrocentos/quatrocentas"
                   " quinhentos/quinhentas seiscentos/seiscentas setecentos/setecentas"
                   " oitocentos/oitocentas novecentos/novecentas", 100, 100),
    },
    ordinals=_ended(_counted("primeir segund terceir quart quint sext sétim oitav non décim", 1),
                    "o/a/os/as") | {"vigésimo": 20, "vigésima": 20},
    scales={"mil": 10**3, "milhão": 10**6, "milhões": 10**6, "bilhão": 10**9, "bilhões": 10**9,
            "bilião": 10**12, "biliões": 10**12, "trilhão": 10**12, "trilhões": 10**12},
    hints=_hints(ambos=(2,), ambas=(2,), dobr=(2,), dupl=(2,), par=(2,), pares=(2,),
                 casal=(2,), meia=(0.5, 6, 30, 50), meio=(0.5, 2), metade=(0.5, 2, 50), tripl=(3,),
                 trigê=(3,), trimes=(3,), tricam=(3,), bicam=(2,), bimes=(2,), bien=(2,),
                 terç=(3,), dezena=(10,),
                 dúzia=(12,), quinzena=(15, 14), centena=(100,), milhar=(1000,), década=(10,),
                 século=(100,), quarto=(4, 0.25, 15), trimestre=(4, 3), nenhum=(0,), sem=(0,),
                 não=(0,), único=(1,)) | {"meio-dia": (12,), "único": (1,)},
    months=("jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"),
    unsure=frozenset(("um", "uma", "cem", "cento", "sete")),
    links=frozenset(("e",)),
    linked_tens=True,
)  # fmt: skip

_RU_SOFT = "ь/и/ью"
_RU_ADJECTIVE = "ый/ой/ая/ое/ые/ого/ому/ым/ом/ую/ых/ыми"
_RU_TEENS = _counted("один две три четыр пят шест сем восем девят", 11)
RUSSIAN = NumberWords(
    cardinals={
        **_counted(
            "ноль/нуль/нуля один/одна/одно/одного/одной/одному/одним/одну/одном"
            " два/две/двух/двум/двумя"
            " три/трёх/трех/трём/трем/тремя четыре/четырёх/четырех/четырём/четырем/четырьмя"
        ),
        **_ended(_counted("пят шест сем", 5), _RU_SOFT),
        **_counted("восемь/восьми/восемью/восьмью девять/девяти/девятью десять/десяти/десятью", 8),
        **_ended({f"{stem}надцат": value for stem, value in _RU_TEENS.items()}, _RU_SOFT),
        **_ended(_counted("двадцат тридцат", 20, 10), _RU_SOFT),
        **_counted("сорок/сорока пятьдесят/пятидесяти/пятьюдесятью"
                   " шестьдесят/шестидесяти/шестьюдесятью семьдесят/семидесяти/семьюдесятью"
                   " восемьдесят/восьмидесяти/восемьюдесятью девяносто/девяноста", 40, 10),
        **_counted("сто/ста двести/двухсот/двумстам/двумястами/двухстах"
                   " триста/трёхсот/трехсот/тремстам/тремястами"
                   " четыреста/четырёхсот/четырехсот/четырёмстам пятьсот/пятисот/пятистам"
                   " шестьсот/шестисот/шестистам семьсот/семисот/семистам"
                   " восемьсот/восьмисот/восьмистам девятьсот/девятисот/девятистам", 100, 100),
    },
    ordinals={
        **_ended(_counted("перв втор", 1), _RU_ADJECTIVE),
        **_ended({"трет": 3}, "ий/ья/ье/ьи/ьего/ьему/ьим/ьем/ью/ьей/ьих"),
        **_ended(_counted("четвёрт пят шест седьм восьм девят десят", 4), _RU_ADJECTIVE),
        **_ended({"четверт": 4, "двадцат": 20, "тридцат": 30, "сот": 100}, _RU_ADJECTIVE),
        **_ended({f"{stem}надцат": value for stem, value in _RU_TEENS.items()}, _RU_ADJECTIVE),
    },
    scales={**_counted("тысяча/тысячи/тысяч/тысячу/тысячам/тысячами/тысячах/тыс/тыс.", 1000),
            **_counted("миллион/миллиона/миллионов/миллиону/миллионам/миллионами/млн/млн.", 10**6),
            **_counted("миллиард/миллиарда/миллиардов/миллиарду/миллиардам/миллиардами/млрд/млрд.",
                       10**9),
            **_counted("триллион/триллиона/триллионов/трлн/трлн.", 10**12)},
    hints=_hints(оба=(2,), обе=(2,), обоих=(2,), обеих=(2,), двое=(2,), двой=(2,), двух=(2,),
                 двум=(2,), пара=(2,),
                 полчас=(0.5, 30), половин=(0.5, 2, 30, 50), полтор=(1.5, 150), трое=(3,),
                 трой=(3,), трёх=(3,), трех=(3,), четверт=(4, 0.25, 15, 25), четвер=(4,),
                 дюжин=(12,), десятилет=(10,), десят=(10,), век=(100,), века=(100,),
                 веков=(100,), столет=(100,),
                 полдень=(12,), полноч=(0, 24, 12), нет=(0,), без=(0,), сотн=(100,), один=(1,),
                 одна=(1,), одно=(1,), одну=(1,),
                 тысяч=(1000,), сотен=(100,)),
    months=("янв", "фев", "мар", "апр", "ма", "июн", "июл", "авг", "сен", "окт", "ноя", "дек"),
    unsure=frozenset(("сем", "семью", "сорок", "сто", "ста")),
)  # fmt: skip

SPOKEN: Mapping[str, NumberWords] = {
    "en": ENGLISH, "de": GERMAN, "fr": FRENCH, "pt": PORTUGUESE, "ru": RUSSIAN
}  # fmt: skip
"""The languages whose words for numbers are known."""
