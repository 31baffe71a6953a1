"""SubRip and WebVTT: cues with their timing; a sentence that goes over cues is one block."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sieve.documents.blocks import Block, Kind, Mark, Part, Syntax
from sieve.documents.formats import DamagedError, text_format
from sieve.documents.subtitles.division import divided

_TIME = r"(?:\d+:)?\d{1,2}:\d{2}[,.]\d{1,3}"
_TIMING = re.compile(rf"[ \t]*({_TIME})[ \t]*-->[ \t]*({_TIME})(?=[ \t]|$)")
_LINES = re.compile(r"[^\n]*\n|[^\n]+\Z")
_TAG = re.compile(r"<(/?)([a-zA-Z]*)[^<>\n]*>|\{\\[^{}\n]*\}")
_TURN = re.compile(r"[ \t]*(?:<[^<>]*>)*[-–—‐]+[ \t]*(?=\S)")
_END = re.compile(r"[.!?…:;。！？♪\])][\"'”’»)\]]*$")
_REOPENED = re.compile(r"</([a-z])> <\1>")
_GAP = 2.5
"""Seconds after which a sentence does not go on."""
_MOST_CUES = 6


@dataclass(frozen=True)
class _Cue:
    lead: str
    """Everything before its text: what stands between cues, number, timing."""
    lines: tuple[str, ...]
    newline: str
    start: float
    end: float


def srt_parts(text: str) -> Iterator[Part]:
    """Reads SubRip."""
    return _parts(text, Syntax(str, lambda written, _: written))


def vtt_parts(text: str) -> Iterator[Part]:
    """Reads WebVTT; notes, styles and regions stay."""
    if not re.match(r"WEBVTT(?=[ \t\r\n]|\Z)", text):
        raise DamagedError(f"line 1: got {text[:40].splitlines()[:1]}, expected WEBVTT")
    return _parts(text, Syntax(html.unescape, _escaped))


def _escaped(text: str, _: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _parts(text: str, syntax: Syntax) -> Iterator[Part]:
    cues, tail = _cues(text)
    if not cues and text.strip() and not text.startswith("WEBVTT"):
        raise DamagedError("no cues, expected timings such as 00:00:01,000 --> 00:00:02,500")
    ends = sum(_is_end(cue) for cue in cues)
    punctuated = 2 * ends >= len(cues)
    place = 0
    while place < len(cues):
        end = place + 1
        while end < len(cues) and end - place < _MOST_CUES:
            if not _goes_on(cues[end - 1], cues[end], punctuated):
                break
            end += 1
        yield from _group(cues[place:end], syntax)
        place = end
    yield tail


def _cues(text: str) -> tuple[list[_Cue], str]:
    """All cues, and what stands after the last one."""
    cues: list[_Cue] = []
    lead = ""
    lines = _LINES.findall(text)
    place = 0
    while place < len(lines):
        line = lines[place]
        lead += line
        place += 1
        timing = _TIMING.match(line.rstrip("\r\n"))
        if timing is None:
            if line.startswith(("NOTE", "STYLE", "REGION")):
                while place < len(lines) and lines[place].strip():
                    lead += lines[place]
                    place += 1
            elif "-->" in line:
                raise DamagedError(
                    f"line {place}: got {line.strip()[:40]!r}, expected a timing such as "
                    "00:00:01,000 --> 00:00:02,500"
                )
            continue
        first = place
        while place < len(lines) and lines[place].strip() and "-->" not in lines[place]:
            place += 1
        if place < len(lines) and "-->" in lines[place] and lines[place - 1].strip().isdigit():
            place -= 1  # no empty line before the next cue
        body = "".join(lines[first:place])
        kept = body.rstrip("\r\n")
        if kept.strip():
            newline = "\r\n" if line.endswith("\r\n") else "\n"
            start, end = map(_seconds, timing.groups())
            cues.append(_Cue(lead, tuple(re.split(r"\r?\n", kept)), newline, start, end))
            lead = body[len(kept) :]
        else:
            lead += body
    return cues, lead


def _seconds(time: str) -> float:
    total = 0.0
    for part in time.replace(",", ".").split(":"):
        total = total * 60 + float(part)
    return total


def _shown(cue: _Cue) -> str:
    return _TAG.sub("", " ".join(cue.lines)).strip()


def _is_end(cue: _Cue) -> bool:
    return _END.search(_shown(cue)) is not None


def _goes_on(cue: _Cue, following: _Cue, punctuated: bool) -> bool:
    """Whether a sentence goes on in the next cue."""
    if _is_end(cue) or following.start - cue.end > _GAP:
        return False
    if any(_TURN.match(line) for line in (*cue.lines, *following.lines)):
        return False
    text = _shown(following)
    first = next((c for c in text if c.isalnum()), "")
    if text.startswith(("(", "[", "♪", "#")) or re.match(r"[A-Z .]+:", text):
        return False
    return punctuated or first.islower() or _shown(cue).endswith(",")


def _group(cues: Sequence[_Cue], syntax: Syntax) -> Iterator[Part]:
    """Cues of one sentence as a block, or what several speakers say in one cue as several."""
    first = cues[0]
    yield first.lead
    turns = _turns(first.lines)
    if len(turns) > 1 or _TURN.match(first.lines[0]):
        for number, lines in enumerate(turns):
            yield first.newline if number else ""
            yield from _turn(lines, first.newline, syntax)
        return
    yield _block([cue.lines for cue in cues], [cue.lead for cue in cues], first.newline, syntax)


def _turns(lines: Sequence[str]) -> list[list[str]]:
    """Lines by who says them: a dash begins a turn."""
    turns: list[list[str]] = []
    for line in lines:
        if not turns or _TURN.match(line):
            turns.append([])
        turns[-1].append(line)
    return turns


def _turn(lines: Sequence[str], newline: str, syntax: Syntax) -> Iterator[Part]:
    dash = re.match(r"[ \t]*[-–—‐]+[ \t]*(?=\S)", lines[0])
    lead = dash[0] if dash else ""
    yield lead
    yield _block([(lines[0][len(lead) :], *lines[1:])], [""], newline, syntax)


def _block(
    texts: Sequence[Sequence[str]], leads: Sequence[str], newline: str, syntax: Syntax
) -> Block:
    """The texts of cues as one, over the same cues again once it is translated."""
    text = " ".join(" ".join(line.strip() for line in lines) for lines in texts)
    text = _REOPENED.sub(" ", text)
    original = newline.join(texts[0]) + "".join(
        lead + newline.join(lines) for lead, lines in zip(leads[1:], texts[1:], strict=True)
    )
    start = divided([tuple(lines) for lines in texts], tuple(leads[1:]), newline)
    return Block(tuple(_items(text)), syntax, start, (original,))


def _items(text: str) -> Iterator[str | Mark]:
    """Text and tags; times inside a text, and positions, are points."""
    place = 0
    for match in _TAG.finditer(text):
        if match.start() > place:
            yield text[place : match.start()]
        name = match[2] or ""
        kind: Kind = "point" if not name else "close" if match[1] else "open"
        yield Mark(kind, (match[0],), name, plain=match[0])
        place = match.end()
    if place < len(text):
        yield text[place:]


SRT = text_format("srt", (".srt",), "application/x-subrip", srt_parts)
VTT = text_format("vtt", (".vtt",), "text/vtt", vtt_parts)
