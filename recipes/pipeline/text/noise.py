"""What the corpora's own history left in their lines: repairs, and signs of pairs that are none.

`repair` undoes what extraction did to one line (verse numbers, context marks, links cut out of a
sentence). `refused_by` names the first rule that finds two lines to be no translations of each
other. Both see normalised text and come before the rules of `sieve prepare`, which look for what
is wrong with any text; these look for what was seen in these corpora (docs/decisions.md).
"""

import re
from collections import Counter
from collections.abc import Callable

_REPAIRS = (
    (re.compile(r"^\(H\d+:\d+\) "), ""),  # bible: verse numbers of another edition
    (re.compile(r"^\?[^:?]{1,30}:(?=\S)"), ""),  # freeciv: context of a message
    (re.compile(r'"? # \d+-\d+ characters .*$'), ""),  # msdocs: an instruction to authors
    (re.compile(r"(?:dst='[^']*' )?text='([^']*)'"), r"\1"),  # wesnoth: links of the help
    (re.compile(r"(?<=\w) ([,;])(?= )|(?<=\w) (\.)$"), r"\1\2"),  # where emphasis was cut out
)
_HOLE = re.compile(r"(?<=\S) \(\s?\)|, ,")  # where a reference was cut out
_INDEX = re.compile(r"\w;\w.*\w;\w")  # entries of an index, run together
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))
_ENUMERATION = re.compile(r"^\W*\w{1,3}\)")
_THOUSANDS = re.compile(r"(?<=\d)[., '\u2009](?=\d{3}(?!\d))")
_LONG_NUMBER = re.compile(r"(?<!\d)\d{3,}(?!\d)")
_LONG_LINE = 40  # characters from which lengths must agree
_DEVIATIONS = 2.5
_VARIANCE = 6.8  # of the characters of a translation, for each of the original: Gale and Church

Rule = Callable[[str, str, float], bool]


def repair(line: str) -> str:
    """A line without the traces that are known."""
    for pattern, replacement in _REPAIRS:
        line = pattern.sub(replacement, line)
    return line


def refused_by(source: str, target: str, ratio: float) -> str | None:
    """The name of the first rule that refuses a pair, None for a pair to keep.

    Args:
        source: A line of the first language.
        target: The same of the second.
        ratio: Mean characters of the second language for one of the first.
    """
    for name, rule in RULES.items():
        if rule(source, target, ratio):
            return name
    return None


def _hole(source: str, target: str, ratio: float) -> bool:
    """A sentence out of which a reference was cut."""
    return any(_HOLE.search(side) or _INDEX.search(side) for side in (source, target))


def _brackets(source: str, target: str, ratio: float) -> bool:
    """A bracket left open, or closed but never opened, on one side only."""
    return _open_brackets(source) != _open_brackets(target)


def _numbers(source: str, target: str, ratio: float) -> bool:
    """Numbers of three digits or more on both sides, and not the same ones.

    Shorter ones are often words, hours or days in another notation; a number that is missing
    altogether is often spelled out.
    """
    first, second = _long_numbers(source), _long_numbers(target)
    return bool(first - second) and bool(second - first)


def _lengths(source: str, target: str, ratio: float) -> bool:
    """Lengths that translations of each other do not have."""
    mean = (len(source) + len(target)) / 2
    deviation = abs(len(target) - ratio * len(source)) / (_VARIANCE * mean) ** 0.5
    return mean >= _LONG_LINE and deviation > _DEVIATIONS


RULES: dict[str, Rule] = {
    "hole": _hole,
    "brackets": _brackets,
    "numbers": _numbers,
    "lengths": _lengths,
}


def _open_brackets(text: str) -> list[int]:
    text = _ENUMERATION.sub("", text)
    return [text.count(opening) - text.count(closing) for opening, closing in _BRACKETS]


def _long_numbers(text: str) -> Counter[str]:
    return Counter(_LONG_NUMBER.findall(_THOUSANDS.sub("", text)))
