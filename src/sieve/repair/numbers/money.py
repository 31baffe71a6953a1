"""Signs of money that a translation lost or exchanged. Knows the words for a few currencies."""

import re
from collections.abc import Mapping, Sequence

from sieve.repair.draft import Draft
from sieve.repair.numbers.number_reader import Number

_WORDS: Mapping[str, re.Pattern[str]] = {
    "€": re.compile("€|eur|евро", re.I),
    "$": re.compile(r"\$|d[oóò]l+ar|usd|\bus\b|доллар", re.I),
    "£": re.compile("£|pfund|pound|libra|livre|gbp|sterling|фунт", re.I),
    "¥": re.compile("¥|yen|ien|yuan|jpy|cny|иен|юан", re.I),
    "₽": re.compile("₽|r[uo]u?bl|rub|руб", re.I),
}
_SIGN = re.compile(f"[{''.join(_WORDS)}]")


def money_kept(
    source: str, draft: Draft, pairs: Sequence[tuple[Number, Number]], sign_first: bool, step: str
) -> Draft:
    """A translation with the source's signs of money.

    One sign in the source and another one in its place: the source's is meant. One that became
    neither sign nor word goes beside its number.

    Args:
        source: The line.
        draft: Its translation.
        pairs: Numbers of the line and what they became.
        sign_first: Whether the target language writes €5 and not 5 €.
        step: Name for the edits.
    """
    signs = set(_SIGN.findall(source))
    if not signs:
        return draft
    theirs = set(_SIGN.findall(draft.text))
    if len(signs) == len(theirs) == 1 and signs != theirs:
        right = signs.pop()
        return draft.substituted(_SIGN, lambda _: right, step)
    lost = {sign for sign in signs if not _WORDS[sign].search(draft.text)}
    for ours, number in sorted(pairs, key=lambda pair: -pair[1].start) if lost else ():
        before, behind = source[: ours.start].rstrip()[-1:], source[ours.end :].lstrip()[:1]
        sign = next((c for c in (before, behind) if c in lost), "")
        if sign and number.kind == "figures":
            at = number.start if sign_first else number.end
            draft = draft.replaced(at, at, sign if sign_first else f"\u00a0{sign}", step)
    return draft
