"""Pairs that teach a student to copy: other numbers, names, signs of money and addresses.

What is written the same in a source and in its translation is replaced by something else of its
kind on both sides; what the student cannot have learned by heart, it must copy. Names are those
that other pairs have in common, and made-up ones; addresses and emoji are put at an end.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

SHARE = 0.08  # of the pairs that also come with other literals
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<=[a-zäöüß,] )[A-ZÄÖÜ][a-zäöüßéèáóíçñ]{3,}\b")
_MONEY = "€$£"
_END = re.compile(r"([.!?]?)$")
_EMOJI = ["😀", "😂", "🎉", "👍", "❤️", "🙏", "😢", "🔥", "☕", "🚀", "🎂", "😎", "🤔", "🌍", "✅"]
# fmt: off
_SYLLABLES = (
    "ka", "lo", "mi", "ren", "tor", "sa", "vel", "du", "ber", "gan", "nor", "li", "chi", "fa",
    "mor", "tes", "wal", "eck", "zin", "pra", "schu", "gol", "ny", "ri", "ost", "hal", "mac",
    "bro", "ze", "qui", "ju", "ba", "ker", "lund", "sen", "owi", "czyk", "inho", "ova", "ung",
)
_HOSTS = (
    "example", "shop", "news", "wiki", "blog", "mail", "city", "school", "army", "bank", "tools",
)
# fmt: on
_ENDS = ["com", "org", "de", "net", "eu", "io", "co.uk", "fr", "info"]


def names_of(sources: Sequence[str], targets: Sequence[str]) -> list[str]:
    """Capitalised words that a source and its translation have in common, rare ones first."""
    counts: Counter[str] = Counter()
    for source, target in zip(sources, targets, strict=True):
        counts.update(set(_NAME.findall(source)) & set(_NAME.findall(target)))
    return [name for name, _ in reversed(counts.most_common())]


def made_up(rng: random.Random) -> str:
    """A name that nobody has, perhaps."""
    return "".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))).capitalize()


def address(rng: random.Random) -> str:
    """A web or mail address."""
    word = made_up(rng).lower()
    host = f"{rng.choice([word, rng.choice(_HOSTS)])}.{rng.choice(_ENDS)}"
    number = rng.randint(1, 9999)
    return rng.choice(
        [
            f"https://{host}/{word}",
            f"https://www.{host}/{word}/{number}?id={number % 97}",
            f"http://{host}",
            f"www.{host}",
            f"{word}@{host}",
            f"{word}.{made_up(rng).lower()}{number % 100}@{host}",
        ]
    )


def copied(
    source: str, target: str, names: Sequence[str], rng: random.Random
) -> tuple[str, str] | None:
    """The pair with other literals; None where it has none and gets none."""
    before = source, target
    for number in _common(_NUMBER, source, target):
        other = "".join(rng.choice("0123456789") for _ in number)
        if number[0] != "0":
            other = rng.choice("123456789") + other[1:]
        source, target = _replaced(_NUMBER, number, other, source, target)
    for name in _common(_NAME, source, target):
        other = rng.choice(names) if names and rng.random() < 0.5 else made_up(rng)
        source, target = _replaced(_NAME, name, other, source, target)
    signs = [sign for sign in _MONEY if source.count(sign) == target.count(sign) == 1]
    if len(signs) == 1:
        other = rng.choice(_MONEY)
        source, target = source.replace(signs[0], other), target.replace(signs[0], other)
    chance = rng.random()
    if chance < 0.25:
        extra = address(rng)
        source, target = (_END.sub(rf": {extra}\1", side, count=1) for side in (source, target))
    elif chance < 0.35:
        extra = rng.choice(_EMOJI)
        source, target = f"{source} {extra}", f"{target} {extra}"
    return None if (source, target) == before else (source, target)


def copies(
    sources: Sequence[str], targets: Sequence[str], seed: int
) -> tuple[list[str], list[str]]:
    """Some of the pairs with other literals, the same for the same seed."""
    rng = random.Random(seed)
    names = names_of(sources, targets)
    pairs = [
        pair
        for source, target in zip(sources, targets, strict=True)
        if rng.random() < SHARE and (pair := copied(source, target, names, rng))
    ]
    return [source for source, _ in pairs], [target for _, target in pairs]


def _common(pattern: re.Pattern[str], source: str, target: str) -> Iterator[str]:
    """What occurs once on each side."""
    first, second = (Counter(pattern.findall(side)) for side in (source, target))
    return (text for text, count in first.items() if count == second[text] == 1)


def _replaced(pattern: re.Pattern[str], old: str, new: str, *sides: str) -> tuple[str, str]:
    def change(match: re.Match[str]) -> str:
        return new if match[0] == old else match[0]

    source, target = (pattern.sub(change, side) for side in sides)
    return source, target
