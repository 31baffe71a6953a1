"""Lines to measure attention with, in the source language: names and numbers that stay as they are.

Written for this purpose. A line has places for a name, a city and two numbers, which several
fillings take in turn. Languages without lines of their own get names and numbers alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice

_LINES = {
    "en": (
        "On {n} March {m}, {name} moved from {city} to Nairobi.",
        "The price rose from {n} to {m} dollars, said {name} of IBM.",
        "Is it true that {name} met {n} people in {city} in {m}?",
        "The train to {city} leaves at {n}:35; {name} missed it {m} times.",
        "Of the {m} pages, {name} had read only {n} in {city}.",
        "Please call {name} in Room {m} before {n}:20.",
    ),
    "de": (
        "Am {n}. März {m} zog {name} von {city} nach Nairobi.",
        "Der Preis stieg von {n} auf {m} Dollar, sagte {name} von IBM.",
        "Stimmt es, dass {name} im Jahr {m} in {city} {n} Leute traf?",
        "Der Zug nach {city} fährt um {n}:35; {name} hat ihn {m} Mal verpasst.",
        "Von den {m} Seiten hatte {name} in {city} nur {n} gelesen.",
        "Bitte rufen Sie {name} in Zimmer {m} vor {n}:20 an.",
    ),
    "fr": (
        "Le {n} mars {m}, {name} a quitté {city} pour Nairobi.",
        "Le prix est passé de {n} à {m} dollars, a dit {name} d'IBM.",
        "Est-il vrai que {name} a rencontré {n} personnes à {city} en {m} ?",
        "Le train pour {city} part à {n}:35 ; {name} l'a manqué {m} fois.",
        "Des {m} pages, {name} n'en avait lu que {n} à {city}.",
        "Appelez {name} dans la chambre {m} avant {n}:20.",
    ),
    "es": (
        "El {n} de marzo de {m}, {name} se mudó de {city} a Nairobi.",
        "El precio subió de {n} a {m} dólares, dijo {name} de IBM.",
        "¿Es verdad que {name} conoció a {n} personas en {city} en {m}?",
        "El tren a {city} sale a las {n}:35; {name} lo perdió {m} veces.",
        "De las {m} páginas, {name} solo había leído {n} en {city}.",
        "Llame a {name} a la habitación {m} antes de las {n}:20.",
    ),
    "pt": (
        "Em {n} de março de {m}, {name} mudou-se de {city} para Nairobi.",
        "O preço subiu de {n} para {m} dólares, disse {name} da IBM.",
        "É verdade que {name} conheceu {n} pessoas em {city} em {m}?",
        "O trem para {city} sai às {n}:35; {name} já o perdeu {m} vezes.",
        "Das {m} páginas, {name} só tinha lido {n} em {city}.",
        "Ligue para {name} no quarto {m} antes das {n}:20.",
    ),
    "it": (
        "Il {n} marzo {m} {name} si trasferì da {city} a Nairobi.",
        "Il prezzo è salito da {n} a {m} dollari, ha detto {name} di IBM.",
        "È vero che {name} ha incontrato {n} persone a {city} nel {m}?",
        "Il treno per {city} parte alle {n}:35; {name} l'ha perso {m} volte.",
        "Delle {m} pagine, {name} ne aveva lette solo {n} a {city}.",
        "Chiami {name} nella camera {m} prima delle {n}:20.",
    ),
    "nl": (
        "Op {n} maart {m} verhuisde {name} van {city} naar Nairobi.",
        "De prijs steeg van {n} naar {m} dollar, zei {name} van IBM.",
        "Is het waar dat {name} in {m} in {city} {n} mensen ontmoette?",
        "De trein naar {city} vertrekt om {n}:35; {name} miste hem {m} keer.",
        "Van de {m} pagina's had {name} er in {city} maar {n} gelezen.",
        "Bel {name} in kamer {m} voor {n}:20.",
    ),
    "sv": (
        "Den {n} mars {m} flyttade {name} från {city} till Nairobi.",
        "Priset steg från {n} till {m} dollar, sade {name} på IBM.",
        "Är det sant att {name} träffade {n} personer i {city} år {m}?",
        "Tåget till {city} går klockan {n}:35; {name} missade det {m} gånger.",
        "Av de {m} sidorna hade {name} bara läst {n} i {city}.",
        "Ring {name} på rum {m} före {n}:20.",
    ),
    "pl": (
        "W dniu {n} marca {m} {name} opuszcza {city} i jedzie do Nairobi.",
        "Cena wzrosła z {n} do {m} dolarów, mówi {name} z IBM.",
        "Czy to prawda, że {name} ma {n} znajomych od {m} roku?",
        "Pociąg odjeżdża o {n}:35, a {name} czeka na peronie {m}.",
        "{name} ma książkę, która ma {m} stron i {n} rozdziałów.",
        "Proszę zadzwonić przed {n}:20, pokój {m}, {name}.",
    ),
    "cs": (
        "Dne {n}. března {m} odjel {name} do města {city}.",
        "Cena stoupla z {n} na {m} dolarů, řekl {name} z IBM.",
        "Je pravda, že {name} má od roku {m} už {n} přátel?",
        "Vlak jede v {n}:35 a {name} čeká na nástupišti {m}.",
        "{name} má knihu, která má {m} stran a {n} kapitol.",
        "Zavolejte před {n}:20, pokoj {m}, {name}.",
    ),
    "ru": (
        "{n} марта {m} года цена выросла до {n} долларов.",
        "В компании IBM работают {m} человек, в Google — {n}.",
        "Правда ли, что в {m} году там было {n} школ?",
        "Поезд отходит в {n}:35 с платформы {m}.",
        "В этой книге {m} страниц и {n} глав.",
        "Позвоните до {n}:20, комната {m}.",
    ),
    "uk": (
        "{n} березня {m} року ціна зросла до {n} доларів.",
        "У компанії IBM працюють {m} людей, у Google — {n}.",
        "Чи правда, що у {m} році там було {n} шкіл?",
        "Потяг відходить о {n}:35 з платформи {m}.",
        "У цій книзі {m} сторінок і {n} розділів.",
        "Зателефонуйте до {n}:20, кімната {m}.",
    ),
    "zh": (
        "{m}年3月{n}日，价格升到{n}美元。",
        "IBM公司有{m}名员工，Google有{n}名。",
        "火车{n}:35从{m}号站台出发。",
        "这本书有{m}页，{n}章。",
        "请在{n}:20之前打电话到{m}号房间。",
        "他在{m}年读了{n}本书。",
    ),
    "ja": (
        "{m}年3月{n}日に価格は{n}ドルに上がりました。",
        "IBMには{m}人、Googleには{n}人が働いています。",
        "電車は{n}:35に{m}番線から出ます。",
        "この本は{m}ページ、{n}章あります。",
        "{n}:20までに{m}号室に電話してください。",
        "彼は{m}年に本を{n}冊読みました。",
    ),
}
_NEUTRAL = (
    "{name}, {city}: {n} / {m}",
    "{city} {m}: {name} ({n})",
    "IBM {m}, Google {n}, {name}",
    "{n}:35 {city}, {m} km, {name}",
    "{name} – {city} – {m}: {n}",
)
_FILLINGS = tuple(
    {"name": name, "city": city, "n": str(n), "m": str(m)}
    for name, city, n, m in (
        ("Maria Silva", "Oslo", 14, 1987),
        ("Peter Novak", "Chicago", 17, 2011),
        ("Anna Lopez", "Boston", 22, 480),
        ("Thomas Tanaka", "Toronto", 19, 2004),
        ("Elena Smith", "Osaka", 12, 745),
        ("David Martin", "Denver", 16, 1893),
        ("Hannah Kim", "Madrid", 11, 830),
    )
)


@dataclass(frozen=True)
class SampleLines:
    """Lines, and what they are, for the record."""

    lines: tuple[str, ...]
    kind: str


def sample_lines(language: str) -> SampleLines:
    """The lines of a language; of one that has none, names and numbers."""
    code = language.replace("_", "-").split("-")[0].lower()
    known = _LINES.get(code)
    kind = f"built-in, {code}" if known else "built-in, names and numbers"
    return SampleLines(tuple(_filled(known or _NEUTRAL)), kind)


def _filled(lines: tuple[str, ...]) -> Iterator[str]:
    """Every line with every filling: the numbers of lines and fillings have no common divisor."""
    pairs = zip(cycle(lines), cycle(_FILLINGS), strict=False)
    for line, filling in islice(pairs, len(lines) * len(_FILLINGS)):
        yield line.format(**filling)
