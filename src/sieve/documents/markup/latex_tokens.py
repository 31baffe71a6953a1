r"""LaTeX as tokens: text, commands with their arguments, groups, mathematics, comments.

Which braces belong together is known before anything else is read, so that nothing is searched for
twice, however deep a document nests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

ACCENT = (
    r"\\[\"'`^~=.](?:\{(?:[A-Za-z]|\\[ij](?:\{\})?)\}|\\[ij](?![A-Za-z])|[A-Za-z])"
    r"|\\[cvuHkr](?:\{[A-Za-z]\}|[ \t]+[A-Za-z](?![A-Za-z]))"
)
LETTER = r"\\(?:ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j)(?![A-Za-z])(?:\{\}|[ \t]+)?"
SIGN = r"\\(?:ldots|dots|textellipsis)(?![A-Za-z])(?:\{\}|[ \t]+)?|\\[%&$#_{} ,@/-]"

_TOKEN = re.compile(
    r"(?P<paragraph>(?:\n|(?<=\n)|\A)[ \t]*\n\s*)"
    r"|(?P<comment>%[^\n]*\n?)"
    rf"|(?P<text>{ACCENT}|{LETTER}|{SIGN})"
    r"|(?P<begin>\\begin[ \t]*\{[^{}\n]*\})"
    r"|(?P<end>\\end[ \t]*\{[^{}\n]*\})"
    r"|(?P<verbatim>\\(?:verb|lstinline)\*?(?P<sign>[^\sA-Za-z*{\[])[^\n]*?(?P=sign))"
    r"|(?P<word>\\[A-Za-z@]+\*?)"
    r"|(?P<symbol>\\.?)"
    r"|(?P<dollars>\$\$?)"
    r"|(?P<open>\{)|(?P<close>\})|(?P<cell>&)",
    re.S,
)
_BRACE = re.compile(r"\\[^\n]?|%[^\n]*|[{}]", re.S)
_OPTION = re.compile(r"[\]{\\\n]")
_SPACES = re.compile(r"[ \t]*(?:\n(?![ \t]*\n)[ \t]*)?")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_LONGEST_OPTION = 2000

Kind: TypeAlias = Literal[
    "paragraph", "comment", "text", "begin", "end", "verbatim", "word", "symbol", "math",
    "display", "open", "close", "cell",
]  # fmt: skip
Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class LatexToken:
    """Characters that mean something."""

    kind: Kind
    start: int
    end: int
    name: str = ""
    """Of a command, with its backslash, or of an environment."""


class LatexText:
    """A document that can be asked for its tokens."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._partners = _partners(text)
        self._nowhere: set[str] = set()

    def token(self, place: int, end: int) -> LatexToken | None:
        """The first token of a stretch; what lies before it is text."""
        match = _TOKEN.search(self.text, place, end)
        return match and self._token(match, end)

    def closing(self, brace: int) -> int:
        """Where the group that opens at a place closes; −1 where it does not."""
        return self._partners.get(brace, -1)

    def arguments(self, place: int, end: int, spaced: bool = False) -> list[Span]:
        """The arguments that follow a command, brackets and braces included.

        Args:
            place: Behind the command.
            end: Of what is read.
            spaced: Whether spaces may stand before them.
        """
        spans: list[Span] = []
        while True:
            gap = _SPACES.match(self.text, place, end) if spaced else None
            start = gap.end() if gap else place
            closing = self._argument_end(start, end)
            if closing < 0:
                return spans
            spans.append((start, closing + 1))
            place = closing + 1

    def find(self, sign: str, place: int, end: int) -> int:
        """Where a sign is next, −1 for nowhere; what was nowhere is not looked for twice."""
        if sign in self._nowhere:
            return -1
        at = self.text.find(sign, place)
        if at < 0:
            self._nowhere.add(sign)
        return at if at <= end - len(sign) else -1

    def _argument_end(self, start: int, end: int) -> int:
        if start < end and self.text[start] == "{":
            closing = self.closing(start)
            return closing if closing < end else -1
        if start >= end or self.text[start] != "[":
            return -1
        place, last = start + 1, min(end, start + _LONGEST_OPTION)
        if self.text.find("]", place, last) < 0:
            return -1
        while stop := _OPTION.search(self.text, place, last):
            place, character = stop.start(), stop[0]
            if character == "]":
                return place
            if character == "{":
                place = max(place, self.closing(place))
            elif character == "\n" and _BLANK_LINE.match(self.text, place):
                return -1
            place += 2 if character == "\\" else 1
        return -1

    def _token(self, match: re.Match[str], end: int) -> LatexToken:
        kind: Any = match.lastgroup
        raw = match[0]
        start, after = match.span()
        if kind == "dollars":
            return self._mathematics(start, raw, raw, end)
        if raw in (r"\(", r"\["):
            return self._mathematics(start, raw, {r"\(": r"\)", r"\[": r"\]"}[raw], end)
        if kind in ("begin", "end"):
            return LatexToken(kind, start, after, raw[raw.index("{") + 1 : -1].strip())
        if match["sign"] is not None:
            kind = "verbatim"
        return LatexToken(kind, start, after, raw)

    def _mathematics(self, start: int, opening: str, closing: str, end: int) -> LatexToken:
        place = start + len(opening)
        at = self.find(closing, place, end)
        while at > 0 and self.text[at - 1] == "\\" and opening.startswith("$"):
            at = self.find(closing, at + 1, end)
        if at < 0 or _BLANK_LINE.search(self.text, place, at):
            return LatexToken("text", start, place)
        kind: Kind = "math" if opening in ("$", r"\(") else "display"
        return LatexToken(kind, start, at + len(closing))


def _partners(text: str) -> dict[int, int]:
    """Where each group closes, by where it opens."""
    partners: dict[int, int] = {}
    waiting: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            waiting.append(match.start())
        elif match[0] == "}" and waiting:
            partners[waiting.pop()] = match.start()
    return partners
