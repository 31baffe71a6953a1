r"""reStructuredText inside a paragraph: emphasis, links, roles, literals, references, footnotes.

`\*` reads as `*`. Markup must have spaces or punctuation around it; where a translation has letters
there, `\ ` is written between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sieve.documents.blocks import Block, Mark, Syntax

_TOKEN = re.compile(
    r"(?P<escape>\\.)"
    r"|(?P<literal>``(?!\s).*?(?<!\s)``(?![\w`]))"
    r"|(?P<role>(?<!\w):[A-Za-z][\w.+:-]*:`(?:\\.|[^`\\])+`)"
    r"|(?P<link>`(?=[^\s`])(?:\\.|[^`\\])+`__?(?!\w))"
    r"|(?P<title>`(?=[^\s`])(?:\\.|[^`\\])+`(?::[A-Za-z][\w.+:-]*:)?)"
    r"|(?P<target>_`[^`]+`)"
    r"|(?P<note>\[(?:\d+|\#[\w-]*|\*|[A-Za-z][\w.-]*)\]_(?!\w))"
    r"|(?P<substitution>\|(?=[^\s|])[^|\n]{1,200}(?<=[^\s|])\|_{0,2})"
    r"|(?P<url>(?<![\w/])(?:https?|ftp)://[^\s<>`]*[^\s<>`().,;:!?*_'\"]|mailto:[^\s<>`]*\w)"
    r"|(?P<reference>(?<![\w`:.])\w+(?:[-.+:]\w+)*__?(?![\w`]))"
    r"|(?P<strong>(?<![\w*])\*\*(?=[^\s*])(?:\\.|[^\\])*?(?<=[^\s\\])\*\*(?!\w))"
    r"|(?P<emphasis>(?<![\w*])\*(?=[^\s*])(?:\\.|[^\\*])*?(?<=[^\s\\])\*(?!\w))",
    re.S,
)
_EMBEDDED = re.compile(r"(.*?)((?<!\s)\s*<[^<>]*>`_{0,2})\Z", re.S)
_ROLES_WITH_TEXT = re.compile(
    r":(?:(?:std:)?(?:ref|doc|term|numref|any|download)|(?:\w+:)?(?:func|meth|class|mod|attr|exc|data"
    r"|obj|const)|emphasis|strong|sub|sup|subscript|superscript|title-reference|t):`"
)
_PLAIN_ROLES = re.compile(r":(?:emphasis|strong|sub|sup|subscript|superscript):`")
_ESCAPED = re.compile(r"\\(?:(\s)|(.))", re.S)
_SPECIAL = re.compile(r"\\|[*`|]|(?<=[^\W_])_(?!\w)")
BEFORE, AFTER = "\ufdd0", "\ufdd1"
"""Stand where markup begins and ends until what is beside it is known: no character of any text."""
_OPENING, _CLOSING = "-:/'\"<([{’“‘«„–—", "-.,:;!?/'\")]}>’”“»–—…\\"
"""What markup may follow, and what may follow it, besides spaces."""


def rst_block(
    text: str, start: Callable[[str], str] = str, original: tuple[str, ...] = ()
) -> Block:
    """A paragraph as a block; see `Block` for what else is said."""

    def begun(written: str) -> str:
        return start(_apart(written))

    return Block(tuple(_items(text)), RST, begun, original)


def _apart(written: str) -> str:
    r"""With `\ ` where markup touches a letter."""

    def before(match: re.Match[str]) -> str:
        beside = written[match.start() - 1 : match.start()].rstrip(BEFORE + AFTER)
        return "" if not beside or beside.isspace() or beside in _OPENING else "\\ "

    def after(match: re.Match[str]) -> str:
        beside = written[match.end() : match.end() + 1]
        return "" if not beside or beside.isspace() or beside in _CLOSING else "\\ "

    if BEFORE not in written and AFTER not in written:
        return written
    written = re.sub(BEFORE, before, written)
    return re.sub(AFTER, after, written)


def _read(raw: str) -> str:
    return _ESCAPED.sub(lambda match: match[2] or "", raw)


def _write(text: str, _: str) -> str:
    def escaped(match: re.Match[str]) -> str:
        before = text[match.start() - 1 : match.start()]
        after = text[match.end() : match.end() + 1]
        bare = match[0] in "*|" and (not before or before.isspace()) and after.isspace()
        return match[0] if bare else f"\\{match[0]}"

    return _SPECIAL.sub(escaped, text)


RST = Syntax(read=_read, write=_write)


def _items(text: str) -> Iterator[str | Mark]:
    """Text and marks; adjacent text may come in several items."""
    place = number = 0
    while match := _TOKEN.search(text, place):
        kind, raw, start = match.lastgroup, match[0], match.start()
        if kind == "note" and text[start - 1 : start] == " " and start > place:
            start, raw = start - 1, f" {raw}"
        if start > place:
            yield text[place:start]
        place = match.end()
        number += 1
        if kind == "escape":
            yield raw
        elif kind in ("strong", "emphasis"):
            sign = "**" if kind == "strong" else "*"
            yield from _pair(sign, raw[len(sign) : -len(sign)], sign, number)
        elif kind in ("link", "role", "title"):
            yield from _link(raw, str(kind), number)
        elif kind == "note":
            yield Mark("point", (raw + AFTER,), plain=raw)
        else:
            yield _opaque(raw, raw.strip("`|_ "))
    if place < len(text):
        yield text[place:]


def _pair(opening: str, content: str, closing: str, number: int) -> Iterator[str | Mark]:
    name = f"mark{number}"
    yield Mark("open", (BEFORE + opening,), name, plain=opening)
    yield content
    yield Mark("close", (closing + AFTER,), name, plain=closing)


def _link(raw: str, kind: str, number: int) -> Iterator[str | Mark]:
    """A role or a link: with its text as text where that is not what it leads to."""
    head = raw[: raw.index("`") + 1]
    embedded = _EMBEDDED.match(raw, len(head))
    words = embedded[1] if embedded else ""
    if kind == "role" and not _ROLES_WITH_TEXT.match(head):
        words = ""
    if embedded is not None and any(map(str.isalpha, words)):
        yield from _pair(head, words, embedded[2], number)
    elif kind == "role" and _PLAIN_ROLES.match(head):
        yield from _pair(head, raw[len(head) : -1], "`", number)
    elif kind == "link":
        name = raw[1:].rstrip("_")[:-1]
        end = "`__" if raw.endswith("__") else " <" + " ".join(name.split()) + "_>`__"
        yield Mark("open", (BEFORE + "`",), f"mark{number}", plain="`")
        yield name
        yield Mark("close", (end + AFTER,), f"mark{number}", plain=raw[1 + len(name) :])
    else:
        text = raw[len(head) :].partition("`")[0]
        yield _opaque(raw, re.sub(r"(?<!\s)\s*<[^<>]*>\Z", "", text).lstrip("~!."))


def _opaque(raw: str, text: str) -> Mark:
    return Mark("opaque", (BEFORE + raw + AFTER,), text=" ".join(text.split()) or "x", plain=raw)
