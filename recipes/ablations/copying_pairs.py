"""What a student learns copying from, and what keeps it from forgetting the rest.

Replayed lines are the student's own translations of ordinary text. Some of them come again with
other numbers, names and addresses, with placeholders for words that both sides share, with tags,
brackets and doses. Lines from the open templates of `benchmarks/kept` have the student's
translations with all repairs, where everything came through.
"""

import bz2
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kept.counting import tally
from kept.generating import generate
from pipeline.text.copies import copied, names_of
from sieve.repair.garbage import repeats
from sieve.translate.translator import Translator

Pair = tuple[str, str]
SETS = Path(__file__).parents[2] / "benchmarks" / "kept"
CORPORA = ("europarl", "msdocs", "tatoeba", "wesnoth", "libreoffice", "ddtp", "mlqe-pe")
"""Text whose licences let a model that learned from it be given away."""
_SHORTEST, _LONGEST = 12, 400
_SHARED = re.compile(r"(?<![\w.,-])(?:\d+|[A-ZÄÖÜ]\w{2,})(?![\w.,-])")
_END = re.compile(r"([.!?]?)$")
_VARIABLES = ("name", "count", "user", "file", "total", "date", "path", "city", "value", "page")
_KEYS = ("Enter", "Esc", "Tab", "Strg", "Alt", "F5", "Ctrl", "Home")
_AROUND = (
    "<b> </b>",
    "<i> </i>",
    "<code> </code>",
    "** **",
    "` `",
    "[ ]",
    "( )",
    "{ }",
    "<u> </u>",
)
_UNITS = ("mg", "g", "kg", "ml", "µg", "mmol", "°C", "km", "%", "€")


def ordinary_lines(data: Path, pair: str, language: str, number: int) -> list[str]:
    """As many lines from each corpus as there are, or an equal share of `number`."""
    lines: list[str] = []
    for left, corpus in zip(range(len(CORPORA), 0, -1), reversed(CORPORA), strict=True):
        path = data / "train" / f"{corpus}.{pair}.{language}.bz2"
        with bz2.open(path, "rt", encoding="utf-8") as file:
            texts = [text for text in map(str.strip, file) if _SHORTEST <= len(text) <= _LONGEST]
        share = (number - len(lines)) // left
        lines += texts[:: max(1, len(texts) // share)][:share] if share else []
    return lines


def replayed(translator: Translator, lines: Sequence[str]) -> list[Pair]:
    """Lines with the model's own translations, without loops and copies."""
    outputs = translator.translate(list(lines), repair=False)
    pairs = zip(lines, (output.text for output in outputs), strict=True)
    return [pair for pair in pairs if pair[1] and pair[0] != pair[1] and not repeats(pair[1])]


def from_templates(translator: Translator, number: int) -> list[Pair]:
    """Lines of the open half with repaired translations that lack nothing."""
    lines, seed = dict[str, Any](), 100
    while len(lines) < number:
        lines |= {c.source: c for c in generate(SETS, "open", translator.languages[0], seed)}
        seed += 1
    cases = list(lines.values())[:: max(1, len(lines) // number)][:number]
    outputs = translator.translate([case.source for case in cases])
    pairs = []
    for case, output in zip(cases, outputs, strict=True):
        shares = tally([case], [output.text], translator.languages)["all"]
        if not output.warnings and all(each["share"] == 1 for each in shares.values()):
            pairs.append((case.source, output.text))
    return pairs


def altered(pairs: Sequence[Pair], languages: tuple[str, str], number: int) -> Iterator[Pair]:
    """Pairs with something to copy in them, made from other pairs."""
    rng = random.Random(1)
    names = names_of(*zip(*pairs, strict=True))
    for source, target in rng.sample(list(pairs), min(number, len(pairs))):
        other = copied(source, target, names, rng) if rng.random() < 0.4 else None
        yield other or marked(source, target, languages, rng)


def marked(source: str, target: str, languages: tuple[str, str], rng: random.Random) -> Pair:
    """A pair with a placeholder, a mark or a dose on both sides."""
    words = _SHARED.findall(source)
    shared = [word for word in words if source.count(word) == target.count(word) == 1]
    if shared:
        word = rng.choice(shared)
        before, behind = rng.choice(_AROUND).split()
        new = placeholder(rng) if rng.random() < 0.6 else f"{before}{word}{behind}"
        return source.replace(word, new), target.replace(word, new)
    if rng.random() < 0.5:
        amount, unit = f"{rng.randint(2, 9999) / rng.choice((1, 10, 100)):g}", rng.choice(_UNITS)
        sides = zip((source, target), languages, strict=True)
        first, second = (_with_end(text, f" ({_dose(amount, unit, to)})") for text, to in sides)
        return first, second
    if rng.random() < 0.5:
        sign = placeholder(rng)
        return _with_end(source, f": {sign}"), _with_end(target, f": {sign}")
    before, behind = rng.choice(_AROUND).split()
    return f"{before}{source}{behind}", f"{before}{target}{behind}"


def placeholder(rng: random.Random) -> str:
    """What programs put into text to be filled in."""
    name, key = rng.choice(_VARIABLES), rng.choice(_KEYS)
    number, other = rng.randint(0, 9), rng.choice(_VARIABLES)
    # fmt: off
    forms = (
        f"{{{name}}}", f"{{{number}}}", "%s", "%d", f"%({name})s", f"%{number + 1}$s",
        f"${name.upper()}", f"${{{name}}}", f"{{{{ {name} }}}}", f"<{key}>", f"<{name}>",
        f"`{name}`", f"#{name}", f"@{name}{number}", f"{name}_{other}",
    )
    # fmt: on
    return rng.choice(forms)


def _dose(amount: str, unit: str, language: str) -> str:
    return f"{amount if language == 'en' else amount.replace('.', ',')} {unit}"


def _with_end(text: str, end: str) -> str:
    return _END.sub(lambda match: end + match[1], text, count=1)
