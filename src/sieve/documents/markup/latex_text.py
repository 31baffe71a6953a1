r"""How LaTeX writes text: accents, quotation marks, dashes, signs that mean something else."""

import re
import unicodedata

from sieve.documents.blocks import Syntax
from sieve.documents.markup.latex_tokens import ACCENT, LETTER

_WRITTEN = re.compile(
    rf"(?P<accent>{ACCENT})|(?P<letter>{LETTER})"
    r"|(?P<rest>\\[a-z]+(?:\{\}|[ \t]+)?|\\.|---?|``|''|~)",
    re.S,
)
_LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "o": "ø",
    "O": "Ø", "l": "ł", "L": "Ł", "i": "i", "j": "j",
}  # fmt: skip
_ACCENTS = {
    '"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328",
    "r": "\u030a",
}  # fmt: skip
_SIGNS = {"---": "—", "--": "–", "``": "“", "''": "”", "~": "\u00a0"}
_SPACES = {",": "\u202f", "@": "", "/": "", "-": ""}
_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "—": "---", "–": "--", "\u00a0": "~", "\u202f": r"\,",
    **{sign: f"\\{sign}" for sign in "{}$&#%_"},
}  # fmt: skip
_ESCAPED = re.compile("[" + re.escape("".join(_SPECIAL)) + "]")


def plain_text(raw: str) -> str:
    """What is written, as people read it."""
    return _WRITTEN.sub(_meant, raw)


def _meant(match: re.Match[str]) -> str:
    raw = match[0]
    if match["accent"]:
        letter = raw.rstrip("}{ \t")[-1]
        return unicodedata.normalize("NFC", letter + _ACCENTS[raw[1]])
    if match["letter"]:
        return _LETTERS[raw.strip("\\{} \t")]
    if raw.startswith("\\"):
        return "…" if raw[1].isalpha() else _SPACES.get(raw[1], raw[1:])
    return _SIGNS[raw]


def _write(text: str, _: str) -> str:
    return _ESCAPED.sub(lambda match: _SPECIAL[match[0]], text)


def _write_quotes(text: str, _: str) -> str:
    return _write(text, _).replace("“", "``").replace("”", "''")


LATEX_TEXT = Syntax(read=plain_text, write=_write)
QUOTED = Syntax(read=plain_text, write=_write_quotes)
"""Where quotation marks are written `` and ''."""
