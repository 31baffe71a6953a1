r"""LaTeX into blocks: paragraphs, headings, items, captions, cells of tables, footnotes.

Mathematics, code, references and commands that are not known stay as they are; of what stands
before `\begin{document}` titles alone are read. `\%` reads as `%`, `\"u` as `ü`, `--` as a dash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sieve.documents.blocks import Block, Mark, Part
from sieve.documents.formats import DamagedError, text_format
from sieve.documents.markup import latex_commands as known
from sieve.documents.markup.latex_text import LATEX_TEXT, QUOTED, plain_text
from sieve.documents.markup.latex_tokens import LatexText, LatexToken, Span

_ENCODING = re.compile(r"^[^%\n]*\\usepackage\s*\[([^\[\]]*)\]\s*\{inputenc\}", re.M)
_BODY = re.compile(r"^[^%\n]*\\begin\s*\{document\}", re.M)
_PREAMBLE_TITLE = re.compile(r"^[ \t]*\\(?:title|subtitle)(?=[\[{])", re.M)
_MOST_DEPTH = 40
_REFERENCE = "|".join(re.escape(name) + r"(?![A-Za-z])" for name in sorted(known.REFERENCES))
_TIED, _UNTIED = re.compile(f"~(?:{_REFERENCE})"), re.compile(f" (?={_REFERENCE})")
_MATHEMATICS = "X"
"""How a formula is read: as a letter that no language has as a word."""


def latex_parts(text: str) -> Iterator[Part]:
    """Reads a document, or a file that another one includes."""
    encoding = _ENCODING.search(text)
    if encoding and not encoding[1].strip().lower().startswith("utf8"):
        raise DamagedError(f"is written in {encoding[1].strip()}; save it in UTF-8")
    latex = LatexText(text)
    body = _BODY.search(text)
    first = body.end() if body else 0
    place = 0
    for title in _PREAMBLE_TITLE.finditer(text, 0, first):
        yield text[place : title.end()]
        place = title.end()
        for span in latex.arguments(place, first):
            yield from _Reader(latex, 0).argument(span)
            place = span[1]
    yield text[place:first]
    yield from _Reader(latex, 0).run((first, len(text)))


def _tied(text: str) -> str:
    return _UNTIED.sub("~", text)


class _Reader:
    """One pass over the tokens of a stretch; arguments that are text are read by others."""

    def __init__(self, latex: LatexText, depth: int) -> None:
        self._latex, self._depth = latex, depth
        self._items: list[str | Mark] = []
        self._closers: dict[int, str] = {}  # names of groups by where they close
        self._place = 0

    def run(self, span: Span) -> Iterator[Part]:
        """Reads a stretch of the document."""
        start, end = span
        self._place = start
        while token := self._latex.token(self._place, end):
            self._text(token.start)
            self._place = token.end
            yield from self._token(token, end)
            if token.name == "document" and token.kind == "end":
                break
        else:
            self._text(end)
        yield from self._flush()
        yield self._latex.text[self._place : end]

    def argument(self, span: Span) -> Iterator[Part]:
        """Reads an argument; its brackets stay."""
        start, end = span
        text = self._latex.text
        if self._depth >= _MOST_DEPTH:
            yield text[start:end]
            return
        yield text[start]
        yield from _Reader(self._latex, self._depth + 1).run((start + 1, end - 1))
        yield text[end - 1]

    def _text(self, end: int) -> None:
        if end > self._place:
            self._items.append(self._latex.text[self._place : end])
            self._place = end

    def _raw(self, token: LatexToken) -> str:
        return self._latex.text[token.start : token.end]

    def _token(self, token: LatexToken, end: int) -> Iterator[Part]:
        raw = self._raw(token)
        if token.kind == "text":
            self._items.append(raw)
        elif token.kind in ("comment", "math", "verbatim", "symbol"):
            yield from self._symbol(token, raw, end)
        elif token.kind in ("open", "close"):
            self._group(token, raw, end)
        elif token.kind == "word":
            yield from self._word(token, end)
        elif token.kind == "begin":
            yield from self._environment(token, end)
        else:
            yield from self._divider(raw)

    def _symbol(self, token: LatexToken, raw: str, end: int) -> Iterator[Part]:
        if raw == r"\\":
            starred = re.compile(r"\*?").match(self._latex.text, token.end)
            spans = self._latex.arguments(starred.end() if starred else token.end, end)
            stop = spans[0][1] if spans and self._latex.text[spans[0][0]] == "[" else token.end
            yield from self._divider(raw + self._latex.text[token.end : stop])
            self._place = stop
        elif token.kind == "math":
            self._opaque(raw, _MATHEMATICS)
        elif token.kind == "verbatim":
            self._opaque(raw, raw[raw.index(raw[-1]) + 1 : -1] or "x")
        else:
            self._items.append(Mark("point", (raw,), plain=raw))

    def _opaque(self, raw: str, text: str, written: str = "") -> None:
        self._items.append(Mark("opaque", (written or raw,), text=text, plain=raw))

    def _group(self, token: LatexToken, raw: str, end: int) -> None:
        if token.kind == "close":
            name = self._closers.pop(token.start, "")
            self._items.append(Mark("close" if name else "point", (raw,), name, plain=raw))
            return
        switch = re.compile(r"\{(?:\\[A-Za-z]+(?:[ \t]+|\n[ \t]*(?=\S)|(?=\\)))*").match(
            self._latex.text, token.start, end
        )
        assert switch is not None
        self._open(token.start, token.start, switch.end())

    def _open(self, brace: int, start: int, stop: int) -> None:
        """A group as markup: from `start` to `stop`, and what closes its brace."""
        closing = self._latex.closing(brace)
        raw = self._latex.text[start:stop]
        self._place = stop
        name = f"group{brace}" if stop <= closing else ""
        self._items.append(Mark("open" if name else "point", (raw,), name, plain=raw))
        if name:
            self._closers[closing] = name

    def _word(self, token: LatexToken, end: int) -> Iterator[Part]:
        name, text = token.name, self._latex.text
        plain = name.rstrip("*")
        spans = self._latex.arguments(token.end, end, spaced=plain in known.HEADINGS)
        if plain in known.HEADINGS and spans:
            yield from self._headed(token.start, token.end, spans)
        elif plain in known.NOTES and spans:
            self._note(token, spans)
        elif plain in known.INLINE and self._has_text(spans, known.INLINE[plain]):
            yield from self._inline(plain, token, spans)
        elif name in known.DEFINITIONS:
            line = re.compile(r"[^\n{]*").match(text, token.end, end)
            after = line.end() if line else token.end
            stop = self._latex.closing(after) + 1 if text[after : after + 1] == "{" else after
            yield from self._divider(text[token.start : max(stop, after)])
            self._place = max(stop, after)
        elif plain == r"\item" and spans:
            yield from self._headed(token.start, token.end, spans[:1])
        elif name in known.DIVIDERS and not (name in known.QUIET and self._is_inside()):
            stop = spans[-1][1] if spans else token.end
            yield from self._divider(text[token.start : stop])
            self._place = stop
        else:
            self._command(token, plain, spans, end)

    def _is_inside(self) -> bool:
        """Whether a sentence has begun."""
        return any(isinstance(item, str) and item.strip() for item in self._items)

    def _has_text(self, spans: list[Span], others: int) -> bool:
        braces = [span for span in spans if self._latex.text[span[0]] == "{"]
        return len(braces) > others

    def _headed(self, start: int, place: int, spans: list[Span]) -> Iterator[Part]:
        yield from self._flush()
        text = self._latex.text
        yield text[start:place]
        for span in spans:
            yield text[place : span[0]]
            yield from self.argument(span)
            place = span[1]
        self._place = place

    def _note(self, token: LatexToken, spans: list[Span]) -> None:
        text, last = self._latex.text, spans[-1]
        head = text[token.start : last[0]]
        self._items.append(
            Mark("point", (head, *self.argument(last)), plain=text[token.start : last[1]])
        )
        self._place = last[1]

    def _inline(self, name: str, token: LatexToken, spans: list[Span]) -> Iterator[Part]:
        text = self._latex.text
        braces = [span for span in spans if text[span[0]] == "{"]
        span = braces[known.INLINE[name]]
        if name in known.OUTER_INLINE:
            yield from self._flush()
            yield text[token.start : span[0]]
            yield from self.argument(span)
            self._place = span[1]
            return
        self._open(span[0], token.start, span[0] + 1)

    def _command(self, token: LatexToken, plain: str, spans: list[Span], end: int) -> None:
        """A command in a sentence that stays as it is."""
        text = self._latex.text
        stop = spans[-1][1] if spans else token.end
        raw = written = text[token.start : stop]
        if not spans:
            space = re.compile(r"\d+|[ \t]+").match(text, stop, end)  # `\write18`
            if space and plain not in known.SPOKEN:
                stop = space.end()
                raw = written = text[token.start : stop]
            else:
                written = f"{raw}{{}}"
        self._place = stop
        before = self._items[-1] if self._items else ""
        if plain in known.CITATIONS and isinstance(before, str) and before[-1:] in ("~", " "):
            self._items[-1] = before[:-1]
            raw, written = before[-1] + raw, before[-1] + written
        if plain in known.REFERENCES:
            self._opaque(raw, "1", written)
        elif plain in known.NAMES:
            self._opaque(raw, "Smith", written)
        elif plain in known.SPOKEN:
            content = text[spans[-1][0] + 1 : spans[-1][1] - 1] if spans else ""
            words = " ".join(plain_text(content).split())
            self._opaque(raw, known.SPOKEN[plain] or words or "X", written)
        else:
            self._items.append(Mark("point", (written,), plain=raw))

    def _environment(self, token: LatexToken, end: int) -> Iterator[Part]:
        yield from self._flush()
        text, name = self._latex.text, token.name
        if name.rstrip("*") in known.KEPT:
            closing = f"\\end{{{name}}}"
            at = self._latex.find(closing, token.end, end)
            self._place = at + len(closing) if at >= 0 else token.end
            yield text[token.start : self._place]
            return
        place = token.end
        yield text[token.start : place]
        for span in self._latex.arguments(place, end):
            brace = text[span[0]] == "{"
            if (brace and name in known.TITLED) or (not brace and name in known.NAMED):
                yield from self.argument(span)
            else:
                yield text[slice(*span)]
            place = span[1]
        self._place = place

    def _divider(self, raw: str) -> Iterator[Part]:
        yield from self._flush()
        yield raw

    def _flush(self) -> Iterator[Part]:
        """What was gathered, as a block; marks whose halves are not both in it are points."""
        items, self._items = self._items, []
        if any(isinstance(item, str) and any(map(str.isalpha, item)) for item in items):
            raw = "".join(item if isinstance(item, str) else item.plain for item in items)
            start = _tied if _TIED.search(raw) else str
            yield Block(tuple(items), QUOTED if "``" in raw else LATEX_TEXT, start)
            return
        for item in items:
            if isinstance(item, str):
                yield item
            elif any(not isinstance(part, str) for part in item.raw):
                yield from item.raw
            else:
                yield item.plain


LATEX = text_format("latex", (".tex", ".ltx"), "application/x-tex", latex_parts)
