"""The one normalisation of text, before any tokenizer sees it.

Canonical composition (NFC) and white space only: what a reader could tell apart (m², ½, ﬁ, ™, curly
quotes, full-width forms) stays as it is, because a translator must be able to copy it. Knows no
tokenizer. `normalize` is idempotent.
"""

import re
import unicodedata

# Characters that are never kept. U+200C to U+200F (joiners, direction marks) stay: Persian, Indic
# scripts, emoji and mixed-direction text need them.
_ODD = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u2581\u3000"
    "\ufeff\ud800-\udfff]|  "
)
_SPACES = re.compile(" {2,}")


def _replacements() -> dict[int, str]:
    table = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], "")  # controls
    spaces = [*range(0x09, 0x0E), *range(0x1C, 0x20), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)]
    table |= dict.fromkeys([*spaces, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000], " ")
    table |= dict.fromkeys([0xAD, 0x200B, 0x2060, 0xFEFF], "")  # invisible, only split words
    table |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")  # halves of pairs: not characters
    table[0x2581] = "_"  # ▁ is the mark of a word start inside SentencePiece
    return table


_TABLE = _replacements()


def normalize(text: str) -> str:
    """NFC; every kind of space is one space, none at the ends; no controls, no invisible breaks."""
    if _ODD.search(text):
        text = _SPACES.sub(" ", text.translate(_TABLE))
    text = text.strip(" ")
    return text if text.isascii() else unicodedata.normalize("NFC", text)
