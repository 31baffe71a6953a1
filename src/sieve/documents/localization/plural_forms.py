"""The forms of plurals that gettext's languages have. Knows no file."""

from __future__ import annotations

import re

_SLAVIC = (
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && "
    "(n%100<10 || n%100>=20) ? 1 : 2);"
)
_ONE_TO_FOUR = "nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;"
_TWO = "nplurals=2; plural=(n != 1);"
_FORMS = {
    "nplurals=1; plural=0;": "ja ko zh vi th id ms lo my ka jv su km bo dz ug",
    "nplurals=2; plural=(n > 1);": "fr pt_br pt-br oc tr br fil tl ln mg mi ti wa uz hy am fa",
    _SLAVIC: "ru uk be sr hr bs sh",
    _ONE_TO_FOUR: "cs sk",
    "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);": "pl",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2);":
        "lt",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);": "lv",
    "nplurals=3; plural=(n==1 ? 0 : (n==0 || (n%100>0 && n%100<20)) ? 1 : 2);": "ro",
    "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);": "sl",
    "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n<7 ? 2 : n<11 ? 3 : 4);": "ga",
    "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : "
    "n%100>=11 ? 4 : 5);": "ar",
    "nplurals=2; plural=(n%10!=1 || n%100==11);": "is mk",
}  # fmt: skip
_BY_LANGUAGE = {language: form for form, names in _FORMS.items() for language in names.split()}
_NUMBER = re.compile(r"nplurals\s*=\s*(\d+)")


def plural_forms(language: str) -> str:
    """The header `Plural-Forms` of a language; two forms where it is not known."""
    language = language.lower()
    return _BY_LANGUAGE.get(language) or _BY_LANGUAGE.get(re.split("[-_]", language)[0], _TWO)


def number_of_forms(header: str) -> int | None:
    """How many forms a header `Plural-Forms` names; None where it names none."""
    match = _NUMBER.search(header)
    return min(int(match[1]), 8) if match and int(match[1]) else None
