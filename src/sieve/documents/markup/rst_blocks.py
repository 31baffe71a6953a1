"""reStructuredText into blocks: titles, paragraphs, items, notes, descriptions.

Literal blocks, tables drawn with signs, comments and directives that hold no text stay as they are.
Lines of a paragraph are joined and wrapped again as wide; rules under titles grow with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from sieve.documents.blocks import Part
from sieve.documents.formats import text_format
from sieve.documents.markup import rst_directives as directives
from sieve.documents.markup.rst_inline import rst_block
from sieve.documents.texts.wrapping import rewrapped, width

_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_SHORT_RULE = re.compile(r"([!-/:-@\[-`{-~])\1*\s*$")
_ITEM = re.compile(r"(?:[-*+•‣⁃]|\(?(?:\d{1,3}|#|[A-Za-z]|[ivxlcIVXLC]{2,5})[.)])(?:[ \t]+|$)")
_FIELD = re.compile(r":((?:\\.|[^:\\\n])[^:\n]*?):(?:[ \t]+|$)")
_READ_FIELDS = re.compile(
    r"(?:param|parameter|arg|argument|key|keyword|raise|raises|except|exception|var|ivar|cvar"
    r"|return|returns|yield|yields|abstract|dedication|summary|alt|caption|title)\b",
    re.I,
)
_OPTION_NAME = r"(?:(?:--?|\+)\w[\w-]*|/\w+)(?:[ =](?:<[^<>]+>|[A-Za-z][\w-]*))?"
_OPTION = re.compile(rf"{_OPTION_NAME}(?:, {_OPTION_NAME})*(?: {{2,}}(?=\S)|$)")
_EXPLICIT = re.compile(r"\.\.(?:[ \t]+|$)")
_NOTE = re.compile(r"\[(?:\d+|\#[\w-]*|\*|[A-Za-z][\w.-]*)\](?:[ \t]+|$)")
_DIRECTIVE = re.compile(r"(?:\|[^|\n]+\|[ \t]+)?([A-Za-z][\w.:+-]*?)::(?:[ \t]+|$)")
_TABLE = re.compile(r"\+[-=+]{3,}\+?\s*$|=+(?:[ \t]+=+)+\s*$")
_BEGINS_LIKE = re.compile(
    r"(?:[-*+•]|\.\.|>>>|\||[A-Za-z\d#]{1,3}[.)]|\(\w{1,3}\))(?=\s)|:[^:`]+:(?=\s)|__ "
)
_REFERENCE = re.compile(r"(?<![\w`:])`([^`<>]+)`_|(?<![\w`])([A-Za-z][\w.+-]{0,200}[^\W_])_(?!\w)")
_LONGEST_TABLE = 500
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")


def rst_parts(text: str) -> Iterator[Part]:
    """Reads a document."""
    named = {_name(match[1] or match[2]) for match in _REFERENCE.finditer(text)}
    yield from _Reader(_LINE.findall(text), named).run()


def _name(text: str) -> str:
    """Names are compared with white space and capitals aside."""
    return " ".join(text.split()).casefold()


class _Reader:
    """One pass over the lines."""

    def __init__(self, lines: Sequence[str], named: Collection[str]) -> None:
        self._lines, self._named = lines, named
        self._bodies = [line.rstrip() for line in lines]
        self._at = 0

    def run(self) -> Iterator[Part]:
        while self._at < len(self._lines):
            body = self._bodies[self._at]
            if not body:
                yield self._take()
                continue
            yield from self._block(_indent(body), body)

    def _take(self) -> str:
        self._at += 1
        return self._lines[self._at - 1]

    def _body(self, at: int) -> str:
        return self._bodies[at] if at < len(self._bodies) else ""

    def _block(self, indent: int, body: str) -> Iterator[Part]:
        """What begins with a line."""
        text = body[indent:]
        if _TABLE.match(text) or text.startswith(">>>"):
            while self._body(self._at):
                yield self._take()
            if text[0] == "=" and not _TABLE.match(self._body(self._at - 1)[indent:]):
                yield from self._rest_of_table(indent)
        elif title := self._title_lines(text):
            yield self._title(title)
        elif _EXPLICIT.match(text):
            yield from self._explicit(indent, text)
        elif text.startswith("__ ") or _RULE.match(text):
            yield self._take()
        elif text.startswith("|") and (len(text) == 1 or text[1].isspace()):
            yield from self._line(indent + 2)
        else:
            yield from self._marked(indent, text)

    def _rest_of_table(self, indent: int) -> Iterator[Part]:
        """The rows of a simple table behind a blank line, up to its last rule."""
        at = self._at
        while at < min(len(self._bodies), self._at + _LONGEST_TABLE):
            body = self._bodies[at]
            if _TABLE.match(body[indent:]) and not self._body(at + 1):
                while self._at <= at:
                    yield self._take()
                return
            at += 1

    def _line(self, start: int) -> Iterator[Part]:
        """A line that is a block of its own, behind a marker."""
        line, body = self._lines[self._at], self._bodies[self._at]
        self._at += 1
        yield line[: min(start, len(body))]
        if body[start:].strip():
            yield rst_block(body[start:])
        yield line[max(len(body), min(start, len(body))) :]

    def _title_lines(self, text: str) -> int:
        """How many lines a title has here: two, three with a rule above, none."""
        if _indent(self._bodies[self._at]) == 0 and _RULE.match(text):
            below, rule = self._body(self._at + 1), self._body(self._at + 2)
            return 3 if below.strip() and rule == text else 0
        rule = self._body(self._at + 1)
        known = _SHORT_RULE.match(rule) and not self._bodies[self._at][:1].isspace()
        long = len(rule) >= width(text) or len(rule) > 3
        return 2 if known and long and rule not in ("::", "..") else 0

    def _title(self, count: int) -> Part:
        lines = self._lines[self._at : self._at + count]
        self._at += count
        rule = lines[-1].rstrip()
        newline = "\r\n" if lines[0].endswith("\r\n") else "\n"
        end = lines[-1][len(rule) :]
        line = lines[-2].rstrip()
        lead = line[: _indent(line)] if count == 3 else ""

        def ruled(title: str) -> str:
            below = rule[0] * max(3, width(title) + 2 * len(lead))
            above = below + newline if count == 3 else ""
            if _name(line) in self._named:  # what refers to it still does
                above = f".. _`{line.strip()}`:{newline}{newline}{above}"
            return f"{above}{lead}{title}{newline}{below}{end}"

        return rst_block(line.strip(), ruled, ("".join(lines),))

    def _explicit(self, indent: int, text: str) -> Iterator[Part]:
        """A note, a directive, a target or a comment: what begins with two points."""
        marker = _EXPLICIT.match(text)
        assert marker is not None
        place = indent + marker.end()
        rest = text[marker.end() :]
        note, directive = _NOTE.match(rest), _DIRECTIVE.match(rest)
        if note:
            yield from self._paragraph(place + note.end(), indent + 1)
        elif directive and directives.PROSE.fullmatch(directive[1]) and not rest.startswith("|"):
            yield from self._directive(indent, place + directive.end(), directive[1])
        elif directive and directive[1] in ("csv-table", "image", "code-block", "toctree"):
            yield from self._directive(indent, place + directive.end(), directive[1])
            yield from self._indented(indent)
        else:
            yield self._take()
            yield from self._indented(indent)

    def _directive(self, indent: int, place: int, name: str) -> Iterator[Part]:
        """The first line of a directive and its options; its content comes after them."""
        body = self._bodies[self._at]
        if directives.VERSIONED.match(name):
            version = re.compile(r"\S+[ \t]*").match(body, place)
            place = version.end() if version else place
        text = body[place:]
        if text and (
            directives.READ_ARGUMENT.fullmatch(name) or (directives.VERSIONED.match(name) and text)
        ):
            if _FIELD.match(self._body(self._at + 1).strip()):
                yield from self._line(place)
            else:
                yield from self._paragraph(place, indent + 1)
        else:
            yield self._take()
        while _indent(self._body(self._at)) > indent and _FIELD.match(
            self._bodies[self._at].strip()
        ):
            option = self._bodies[self._at]
            lead = _indent(option)
            read = directives.READ_OPTIONS.match(option[lead:])
            if not read and name in ("function", "method", "class") and _is_read(option[lead:]):
                return
            yield from (self._line(lead + read.end()) if read else iter((self._take(),)))

    def _indented(self, indent: int) -> Iterator[Part]:
        """Lines further in, as they are."""
        while self._at < len(self._lines):
            body = self._bodies[self._at]
            if body and _indent(body) <= indent:
                return
            yield self._take()

    def _marked(self, indent: int, text: str) -> Iterator[Part]:
        """A paragraph, an item of a list, a field or an option."""
        field = _FIELD.match(text)
        option = _OPTION.match(text) if text[0] in "-+/" else None
        place = indent
        if field and not text.startswith(":`") and not re.match(r":[\w.+:-]+:`", text):
            if not _is_read(text):
                yield self._take()
                yield from self._indented(indent)
                return
            place += field.end()
            yield from self._paragraph(place, indent + 1)
            return
        if option and option.end():
            yield from self._paragraph(indent + option.end(), indent + 1)
            return
        while item := _ITEM.match(self._bodies[self._at], place):
            place = item.end()
        if re.compile(r"\|(?=\s|$)").match(self._bodies[self._at], place):
            yield from self._line(place + 2)
            return
        yield from self._paragraph(place, place)

    def _paragraph(self, place: int, least: int) -> Iterator[Part]:
        """A paragraph whose text begins at a place in the line and goes on in lines as far in."""
        first = self._at
        body = self._bodies[first]
        self._at += 1
        if place >= len(body):
            yield self._lines[first]
            return
        indent = _indent(self._body(self._at))
        while self._at < len(self._lines):
            following = self._bodies[self._at]
            own = _indent(following)
            if not following or own != indent or own < least:
                break
            if _ITEM.match(following, own) and place != own:
                break
            if following.startswith("| ", own):
                break
            if place == least and own != place:
                break
            self._at += 1
        lines = self._lines[first : self._at]
        last = lines[-1]
        bodies = [body[place:], *(line[indent:] for line in self._bodies[first + 1 : self._at])]
        term = len(bodies) == 1 and _indent(self._body(self._at)) > place
        indent = indent if len(bodies) > 1 else place
        original = "".join(lines)[place : len("".join(lines)) - len(last) + len(last.rstrip())]
        yield from self._text((body[:place], original), bodies, indent, term)
        yield last[len(last.rstrip()) :]
        if body.endswith("::") or self._bodies[self._at - 1].endswith("::"):
            yield from self._literal(place if least == place else _indent(body))

    def _text(
        self, written: tuple[str, str], bodies: list[str], indent: int, term: bool
    ) -> Iterator[Part]:
        """A paragraph, given as its marker and its text as written, and by its lines."""
        lead, original = written
        newline = "\r\n" if self._lines[0].endswith("\r\n") else "\n"
        tail = re.search(r"(?<!\s)\s*::\Z", bodies[-1])
        if tail:
            bodies[-1] = bodies[-1][: tail.start()]
        ending = tail[0] if tail else ""
        yield lead
        if term:  # a term and its classifiers, or a line over a quotation
            words, colon, classifier = bodies[0].partition(" : ")
            yield rst_block(words, _safe)
            yield colon + classifier + ending
            return
        text = " ".join(filter(None, bodies))
        if any(map(str.isalpha, text)):
            fill = _filled(bodies, lead, indent, newline)
            yield rst_block(text, fill, (original.removesuffix(ending),))
            yield ending
        else:
            yield original

    def _literal(self, indent: int) -> Iterator[Part]:
        """What follows `::`: lines further in, or lines that are quoted with one sign."""
        while self._at < len(self._lines) and not self._bodies[self._at]:
            yield self._take()
        body = self._body(self._at)
        if _indent(body) > indent:
            yield from self._indented(indent)
            return
        sign = body[indent : indent + 1]
        while sign and not sign.isalnum() and self._body(self._at)[indent:].startswith(sign):
            yield self._take()


def _filled(bodies: Sequence[str], lead: str, indent: int, newline: str) -> Callable[[str], str]:
    """Wraps a paragraph as wide as it was; one line stays one line."""
    if len(bodies) == 1:
        return _safe
    most = max(len(lead) + width(bodies[0]), *(indent + width(body) for body in bodies[1:]))
    wrap = rewrapped(most, lead, " " * indent, newline)
    return lambda text: wrap(_safe(text))


def _is_read(field: str) -> bool:
    match = _FIELD.match(field)
    return match is not None and _READ_FIELDS.match(match[1]) is not None


def _safe(text: str) -> str:
    """A paragraph must not begin like something else."""
    return f"\\{text}" if _BEGINS_LIKE.match(text) else text


def _indent(body: str) -> int:
    return len(body) - len(body.lstrip())


RST = text_format("rst", (".rst", ".rest"), "text/x-rst", rst_parts)
