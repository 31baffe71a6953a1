"""Tags such as `>>fra<<`, with which a line chooses its target language in models of several.

A tag is a piece of the source vocabulary and no text: nothing but the encoder reads it.
"""

import re
from collections.abc import Collection, Iterable

from sieve.errors import InputError

NO_TAGS: frozenset[str] = frozenset()
_TAG = re.compile(r">>([^<>\s]+)<<")
_SHOWN = 8
_ISO = """af afr, am amh, ar ara, az aze, be bel, bg bul, bn ben, bs bos, ca cat, cs ces, cy cym,
da dan, de deu, el ell, en eng, eo epo, es spa, et est, eu eus, fa fas, fi fin, fr fra, ga gle,
gl glg,
gu guj, he heb, hi hin, hr hrv, hu hun, hy hye, id ind, is isl, it ita, ja jpn, ka kat, kk kaz,
km khm, kn kan, ko kor, lt lit, lv lav, mk mkd, ml mal, mr mar, ms msa, mt mlt, my mya, nb nob,
ne nep, nl nld, nn nno, no nor, pa pan, pl pol, ps pus, pt por, ro ron, ru rus, sk slk, sl slv,
sq sqi, sr srp, sv swe, sw swa, ta tam, te tel, th tha, tl tgl, tr tur, uk ukr, ur urd, uz uzb,
vi vie, yi yid, zh cmn"""
_CODES = dict(pair.split() for pair in _ISO.split(","))
"""ISO 639-1 and the codes of ISO 639-3 that tags have."""


def tags_of(pieces: Iterable[str]) -> frozenset[str]:
    """The tags among the pieces of a vocabulary."""
    return frozenset(piece for piece in pieces if _TAG.fullmatch(piece))


def cut_tag(line: str, tags: Collection[str]) -> tuple[str, str]:
    """The tag that a line begins with, or nothing, and the text behind it.

    Args:
        line: A line of text; where there are no tags, all of it is text.
        tags: Of the model; any other is an InputError.
    """
    match = _TAG.match(line) if tags else None
    if match is None:
        return "", line
    if match[0] not in tags:
        raise InputError(f"{match[0]}: the model has no such language, expected {shown(tags)}")
    return match[0], line[match.end() :]


def tag_for(language: str, tags: Collection[str]) -> str | None:
    """The tag of a language, by either of its codes; of several scripts or regions, none is chosen.

    >>> tag_for("fr", {">>fra<<", ">>por<<"}), tag_for("pt_br", {">>pt_br<<", ">>por<<"})
    ('>>fra<<', '>>pt_br<<')
    """
    codes = (language, _CODES.get(language.lower().split("-")[0].split("_")[0]))
    return next((tag for code in codes if (tag := f">>{code}<<") in tags), None)


def same_language(asked: str, own: str) -> bool:
    """Whether a language is a model's own, also by its longer code, or with a script or region.

    >>> same_language("eng_Latn", "en"), same_language("fr_XX", "fr"), same_language("de", "en")
    (True, True, False)
    """
    code = re.split("[-_]", asked.lower())[0]
    return own.lower() in (asked.lower(), code) or _CODES.get(own.lower()) == code


def shown(tags: Collection[str]) -> str:
    """The tags for a message, the first of many."""
    known = sorted(tags)
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    which = "one of " if len(known) > 1 else ""
    return f"{which}{' '.join(known[:_SHOWN])}{more}"
