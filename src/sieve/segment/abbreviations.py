"""Abbreviations and first words of sentences, by language: what tells a full stop from a point.

Words are in lower case and without their last point. A language without lists here takes those of
all languages together.
"""

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Rules:
    """What a language's points can mean."""

    inner: frozenset[str]
    """Abbreviations that something follows: a name, a number, the thing abbreviated."""
    final: frozenset[str]
    """Abbreviations that may also close a sentence; then a usual first word follows."""
    starters: frozenset[str]
    """Words that often begin a sentence and rarely follow an abbreviation."""
    ordinals: bool
    """Whether a number with a point is an ordinal (3. Oktober)."""


_INNER = {
    "en": """mr mrs ms dr prof st mt ft gen col lt sgt capt cmdr maj adm rev hon sen rep gov pres
        messrs mme supt no nos fig figs vol vols ch chap pp p ed eds vs v e.g i.e cf approx ca c al
        est dept univ jan feb mar apr jun jul aug sept oct nov dec mon tue wed thu fri""",
    "de": """dr prof hr fr frl st nr abb abs art kap bd s vgl z.b z. z d.h d. d u.a u. u.ä bzw ca
        evtl ggf inkl exkl max min mind mio mrd tsd tel fa gebr geb gest hrsg dipl ing mag jh jan
        feb mär apr jun jul aug sep sept okt nov dez mo di mi do sa so v a i h z.zt zzgl sog röm
        griech engl franz lat str u.v u.v. chr. e""",
    "fr": """m mm mme mlle mgr me dr pr prof st ste cf p pp fig chap art al vol éd n no nos réf
        env mill janv févr avr juil sept oct nov déc av bd boul tél min max av. ap ex c.-à-d h""",
    "pt": """sr sra srta srs dr dra drs prof profa d exmo exma v pe fr st sta sto av r n nº núm p pp
        pág págs fig figs cap caps vol vols art inc p.ex ex cf aprox ca séc tel eng arq gen cel cap
        ten sgt al jan fev mar abr mai jun jul ago set out nov dez""",
    "ru": """г-н г-жа проф акад доц ген полк им ул пр просп пер пл д кв корп стр с см ср рис табл гл
        ст п пп ч т напр т.е т.н т.к тыс млн млрд руб коп тел факс янв февр апр авг сент окт нояб
        дек мин макс ок чел св гг вв до н к в.п о оз р""",
}
_FINAL = {
    "en": """etc inc ltd co corp jr sr u.s u.k u.n u.s.a d.c a.m p.m b.c a.d ph.d m.d b.a m.a st ave
        blvd rd sept no fig""",
    "de": """usw etc str v.chr n.chr chr mo di mi do fr sa so m gmbh ag co z.t o.ä u.ä u.s.w e.v
        e.k""",
    "fr": "etc j.-c s.a s.n.c.f o.n.u s cie",
    "pt": "etc ltda s.a e.u.a a.c d.c cia",
    "ru": "др т.д т.п т.п д п г гг в вв н.э э руб коп чел млн тыс н к.т.н",
}
_STARTERS = {
    "en": """the a an he she it we they i you this that these those there nobody somebody everybody
        who what when where why how but and so then his her its our their my in on at if as for not
        no yes none neither both some all after before while""",
    "de": """der die das ein eine er sie es wir ihr ich du dieser diese dieses das niemand keiner
        keine jeder alle aber und so dann doch wer was wann wo warum wie sein seine unser mein in im
        am auf wenn als für nicht nein ja nach vor während nur hier dort heute""",
    "fr": """le la les l' un une il elle on nous vous ils elles je tu ce cet cette ces c'est mais et
        alors puis qui que quand où pourquoi comment son sa ses notre leur dans en à si pour non oui
        après avant personne tout tous""",
    "pt": """o a os as um uma ele ela nós eles elas eu você vocês isto isso este esta esse essa mas
        e então depois quem que quando onde porque como seu sua nosso em no na se para não sim
        ninguém todos tudo hoje""",
    "ru": """он она оно мы вы они я ты это этот эта эти но и а тогда потом кто что когда где почему
        как его её их наш мой в на если для не нет да после перед никто все всё там здесь сейчас
        сегодня так""",
}
LANGUAGES = tuple(_INNER)


@cache
def rules(language: str) -> Rules:
    """The rules of a language code such as `de` or `pt-BR`."""
    code = language.replace("_", "-").partition("-")[0].lower()
    codes = (code,) if code in _INNER else LANGUAGES
    return Rules(
        inner=_joined(_INNER, codes),
        final=_joined(_FINAL, codes),
        starters=_joined(_STARTERS, codes),
        ordinals="de" in codes,
    )


def _joined(table: dict[str, str], codes: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for code in codes for word in table[code].split())
