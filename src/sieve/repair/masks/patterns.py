"""What in a line of text is not language: placeholders, markup, code, addresses, emoji.

A line is looked at for single characters first; only where it has one of them is it searched.
Knows no model and no stand-in.
"""

import re
from dataclasses import dataclass
from functools import cache

_KEY = (
    r"(?:OK|[A-Z]|F?\d{1,2}|Esc|Tab|Alt|AltGr|Strg|Ctrl|Shift|Enter|Return|Entf|Del|Home|End|Cmd)"
)
_CODE = (
    r"```[^`]+```|``[^`]+``|`[^`]+`"
    r"|<(?P<literal>code|kbd|samp|tt|var)>[^<>]*</(?P=literal)>"
    rf"|<(?P<key>[A-Za-z]\w*)\b[^<>]*>(?:{_KEY}|[^<>\w]*)</(?P=key)>|<\w+>(?:[+-]<\w+>)+"
    r"|&lt;/?\w[^<>&]*&gt;|(?<!\w)\w{1,3}<(?P<small>su[bp])>\w*</(?P=small)>\w{0,4}"
)
_TEMPLATE = (
    r"\[\[[^\]]*\]\]|<%.*?%>|<\?.*?\?>|\{\{\{.*?\}\}\}|\{\{.*?\}\}|\{%.*?%\}|\{\#.*?\#\}"
    r"|\[[^\[\]\s]*[%${][^\[\]\s]*\]|(?<![\w@\#%])(?P<fence>@@|\#\#|%%)\w+(?P=fence)(?!\w)"
    r"|\*{3}[A-Z_]{2,}\*{3}|(?<![\w~])~\w+~(?![\w~])"
)
_VARIABLE = (
    r"[$%\#@]\{[^{}]*\}|\$\(\w+\)|(?<![\w$])\$[A-Za-z_]\w*(?:\$|(?:/[\w.-]*\w)+)?(?!\w)"
    r"|%[A-Z_]{2,}%(?:[\\/][\w.-]*\w)*"
)
_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_FORMAT = (
    r"(?<![\d%])%(?:\(\w+\)|\d+\$)?[-+0\#]*\d*(?:\.\d+)?(?:l|ll|h|z)?[diouxXeEfFgGcrsap@](?!\w)"
    r"|(?<![\w%])%L?\d{1,2}(?![\w.,%])|(?<!\d)(?<!\d\s)%%"
)
_TAG = r"<!--.*?-->|</?[A-Za-z!?][^<>]*>|<[:.…]+>"
_BRACKET = (  # as in forums, footnotes and lists
    r"\[/?(?:b|i|u|s|url|img|quote|code|size|color)(?:=[^\]\s]*)?\]"
    r"|\[\^?\d{1,3}\]|(?<!\S)\[[ xX]\](?!\S)"
)
_ENTITY = r"&(?:[A-Za-z]\w{1,31}|\#\d{1,7}|\#x[\dA-Fa-f]{1,6});"
_ESCAPE = r"(?:\\[nrt\"'])+(?![A-Za-z]*[\\/])"
_COMMAND = (  # of LaTeX, and regular expressions
    r"\\[A-Za-z]{2,}\*?(?:\[[^\]]*\])?(?:\{[^{}]*\})+"
    r"|\S{0,80}(?:\\[dDwWsSbB]|\[[^\]\s]*\][+*{]|\(\?[:=!<])\S*"
)
_FACE = (
    r"¯\S*¯|ʕ\S+ʔ|(?<!\S):[a-z+][a-z\d_+-]+:(?!\w)|(?:</?3+)+"
    r"|(?<!\S)(?:[:;=]['’]?-?[)(DPp/|]|8-\)|\\o/|[-^>][_.][-^<]|\([-^][_.][-^]\)|:3)(?!\w)"
    r"|\([^\s()\w]*[^\x00-\x7f\w\s€£„“”«»…–—’][^\s()]*\)\S?"
)
_INNER = r"(?:\{\w*\}|\([^\s()<>\"]*\)|[^\s<>\"“”„»«`{}()])"
_STOP = r"[^\s<>\"“”„»«`.,;:!?()\]{}']"  # an address does not end with the sentence's own marks
_LAST = rf"(?:\{{\w*\}}|\([^\s()<>\"]*\)|{_STOP})"
_DOMAIN = "com|org|net|edu|gov|info|io|dev|app|de|at|ch|fr|pt|br|ru|es|it|eu|uk|us|example"
_ADDRESS = (
    rf"(?:[A-Za-z][A-Za-z0-9+.-]{{1,9}}://|www\.|mailto:|(?<!\S)//(?=\w+\.\w)){_INNER}*{_LAST}"
    rf"|(?<!\w)(?:tel|sms|magnet|about|geo|urn|doi):{_INNER}*{_LAST}"
    r"|[\w.+%-]+(?:'\w+)?@(?:localhost|[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}(?::[\w./~-]*\w)?)"
    rf"|(?<![\w.@-])(?:[a-z0-9-]+\.)+(?:{_DOMAIN})(?:(?:/[^\s<>\"“”„»«`]*)?/|(?=/)[^\s<>\"“”„»«`]*"
    rf"{_STOP}|(?![\w-]))"
    rf"|(?<![\w.@/-])[a-z0-9-]{{2,}}(?:\.[a-z0-9-]+)*\.[a-z]{{2,}}/{_INNER}*{_LAST}"
    r"|(?<![\w.])(?:localhost|\d+(?:\.\d+){3}|[a-z][\w-]*(?:\.[\w-]+)+):\d{2,5}(?!\w)"
)
_HANDLE = (
    r"(?<![\w/&@#])(?:@\w*[^\W\d]\w*(?:[.-]\w+)*|\#\w*[^\W\d]\w*(?:-\w+)*|\#\d{2,}(?!\w)|\#!\S+)"
    r"|(?<!\S)[ur]/\w{3,}|(?<![\w:]):[a-z_]\w+(?![\w:])"
)
_PATH = (
    r"(?<![\w/.<])(?:~|\.{1,2})?/(?:[\w.@+-]+/)+(?:[\w.@+-]*\w)?|(?<![\w/.<])(?:~|\.{1,2})/[\w.@+-]*\w"
    r"|(?<!\S)~?/[a-z][\w.-]*\w"
    r"|(?<!\w)[A-Za-z]:[\\/](?:Program Files(?: \(x86\))?|[^\s\"<>|]| (?=[\w() -]{1,30}\\))*"
    r"|(?<!\S)\\\\[\w.-]+\\[^\s\"<>|]*"
)
_FILE = (
    r"(?<![\w/.])(?:[\w.-]+/)*[\w-]+(?:\.[\w-]+)*\.(?:[ch]|(?i:pdf|txt|[ct]sv|json|ya?ml|toml|xml|html?|css"
    r"|[jt]sx?|py|ipynb|[ch]pp|java|kt|swift|rs|go|rb|php|lua|sql|sh|bat|ps1|exe|dll|so|jar"
    r"|zip|t?gz|tar|bz2|xz|7z|iso|png|jpe?g|gif|svg|webp|bmp|tiff?|mp[34]|wav|ogg|avi|mkv|mov|docx?"
    r"|xlsx?|pptx?|od[tsp]|epub|rtf|tex|bib|md|rst|ini|cfg|conf|log|bak|tmp|lock|po|srt|vtt|db"
    r"|parquet|safetensors|onnx|wasm|pem|key))(?!\.?\w)"
    r"|(?<![^\s(])\.(?:[a-z]\w+(?:\.\w+)*|NET)(?!\w)|(?<!\S)(?:[\w.-]+/|\*+/)*\*\.\w+"
)
_NAME = (
    r"(?<!\S)[\w.\[\]-]+(?:[=!<>~]=)[\w.*-]*\w|(?<![\w-])\w*[^\W_]_\w+|(?<![\w-])__\w+__|(?<![\w-])_[^\W_]\w*(?<!_)(?!\w)"
    r"|(?<![\w.])[A-Za-z_][\w.]*\((?:[\"'][^()]*|\d[^()]*|\w+(?:, ?\w+)+)?\)"
    r"|(?<![\w.])[A-Za-z]\([a-z]\w?\)"
    r"|(?<![\w.])(?:[A-Za-z]\[(?:\d+|[a-z])\]|[A-Za-z]\w*\[[\"'][^\]]*\])(?:\[[^\]\s]*\])*"
    r"|\w+(?:::~?\w+)+(?:<[\w, ]*>)?"
    r"|(?<!\w)(?:\w{1,3}\+\+|[A-Z]\#)(?!\w)|[\u2303\u2318\u2325\u21e7]+\w(?!\w)"
    r"|(?<![\w-])--[a-z][\w-]*(?:=\S*\w)?|(?<!\S)-[a-zA-Z]{1,2}(?!\S)"
)
_NUMBERED = (  # times for machines, durations, articles of law, coordinates
    r"(?<!\d)\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.,]*(?:Z|[+-]\d\d:?\d\d)?|(?<!\w)\d+h\d+m(?:\d+s)?(?!\w)"
    r"|(?<![\w.])\d+(?:\([\da-z]{1,4}\))+|\d+\s?°\s?\d+\s?[′'](?:\s?[\d.,]+\s?[″\"])?"
    # versions, addresses of machines, telephones, hashes, accounts
    r"|"
    r"(?<![\w.])v\d+(?:\.\w+)*|(?<![\w.,])(?!\d{1,3}(?:\.\d{3})+(?![\w.]))"
    r"(?!\d{1,2}\.\d{1,2}\.(?:\d{4}|\d\d)(?![\w.]))\d+(?:\.\d+){2,}(?:-?[a-z]\w*)?"
    r"|(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{1,4}(?![\w:])|0x[0-9A-Fa-f]+"
    r"|[€$£¥]\d+(?:[.,]\d+)?[kK](?!\w)"
    r"|(?<![\w.])(?=[a-f\d-]*\d)(?=[\d-]*[a-f])[0-9a-f]{7,}(?:-[0-9a-f]{4,})*(?!\w)"
    r"|\+\d[\d ()./-]{5,}\d|\(\d{2,5}\)[ -]?\d[\d -]{4,}\d"
    r"|(?<![\w.-])\d{3}-\d{3,4}(?:-\d{4})?(?![\w-])"
    r"|(?<![\w.])0\d{2,4}[ /-]\d[\d -]{4,}\d|(?<![\w.,])\d{12,}(?!\w)"
    r"|(?<!\w)[A-Z]{2}\d{2}(?: ?[\dA-Z]{4}){3,7}(?: ?[\dA-Z]{1,3})?(?!\w)"
)
_EMOJI = "\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_PICTURES = (
    rf"(?:[{_EMOJI}]|[\d#*]\ufe0f?\u20e3)[{_EMOJI}\ufe0e\ufe0f\u200d\u20e3\U000e0000-\U000e007f]*"
)
_STORM = r"\S*[\u0300-\u036f\u0483-\u0489\u20d0-\u20ff]{3}\S*"
_RULE = r"[*~^=#|&]{2,}|'{3}|(?<!\w)\*(?=\w[^*]*\*(?!\w))|(?<=\w)\*(?![\w*])"
_ODD_SIGNS = (
    r"\u0300-\u036f\u0483-\u0489\u20d0-\u20ff\u2070-\u209c\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f"
)
_ODD = r"[²³\u2070-\u209c]+|[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]+|(?:(?![0-9])\d)+"
_ANGLES = r"[-=]*[<>]+[-=<>]*|!="
_AROUND = (  # what makes a sign the beginning of a part, perhaps
    r"(?<=\$)(?=[A-Za-z_{(])|(?<=[€$£¥])(?=\d[\d.,]*[kK])|(?<=&)(?=[\#&]|\w+;)",
    r"(?<=\*)(?=[*\w])|(?<=\w\*)|(?<=[\^=|+])(?=[\^=|+*])|(?<=')(?='')|(?<=!)(?==)",
    r"(?<=\[)(?=[\[\^/\w \"'%$])|(?<=%)(?=[\w(%+{-])|(?<=\w\()(?=[\"'\w)])",
    r"(?<=\.)(?=[^\W\d_]\w|[ch]\b)|(?<=:)(?=[a-z_+:])|(?<=[A-Za-z]:)(?=\d\d)|(?<!\S:)(?<=:)(?=3)",
    r"(?<=[:;=])(?=['’]?-?[)(DPp/|])|(?<=8)(?=-\))|(?<![\w-]-)(?<=-)(?=-\w|[A-Za-z]{1,2}(?!\w))",
    r"(?<=\d)(?<![0-9])|(?<=[a-fv]\d)|(?<=[A-Z][A-Z]\d)",
    r"(?<=\d)(?=\s?°\s?\d|\.\d+\.\d|x[\dA-Fa-f]|h\d|\(|T\d|-\d{3}|[a-f][\da-f]|[\d.()/: -]{5,}\d)",
)

_FOREIGN = (  # letters and their marks that are not Latin, without signs
    (0x370, 0x1DFF), (0x2C00, 0x2DFF), (0x2E80, 0xD7FF), (0xF900, 0xFFEF),
    (0x10000, 0x1EFFF), (0x20000, 0x3FFFF),
)  # fmt: skip
_OWN = {"CYRILLIC": (0x400, 0x52F), "GREEK": (0x370, 0x3FF)}
_FLOATING = frozenset(("tag", "bracket", "entity", "escape", "face", "pictures", "rule"))
_MARKUP = re.compile(  # names of tags that mark text
    "a|abbr|article|b|big|blockquote|body|br|button|center|cite|code|del|div|em|font|footer|form|g"
    "|h[1-6]|head|header|hr|html|i|img|input|ins|label|li|link|main|mark|nav|ol|option|p|pre|q|s"
    "|script|section|select|small|span|strike|strong|style|sub|sup|svg|table|tbody|td|textarea|th"
    "|thead|tr|tt|u|ul|var|x"
)
_WORD_BEFORE = re.compile(r"\w+$")
_WORD_AFTER = re.compile(r"\w+")


@dataclass(frozen=True)
class LinePart:
    """Characters of a line that are not language."""

    start: int
    end: int
    floating: bool
    """Whether a sentence reads the same without it, as without a tag or an emoji."""


def parts(line: str, script: str | None) -> list[LinePart]:
    """The parts of a line that are not language, in order.

    Args:
        line: To look at.
        script: In which the line's language is written, LATIN say; None where it is not known:
            then letters of any script are language.
    """
    spark, pattern = _compiled(script)
    if not spark.search(line):
        return []
    pieces: list[LinePart] = []
    for match in pattern.finditer(line):
        if match.lastgroup == "bracket" and match[0][1].isalpha() and "[/" not in line:
            continue  # [i]t
        floating = match.lastgroup in _FLOATING
        if match.lastgroup == "tag":
            floating = _is_markup(match[0], line)
        _add(pieces, _whole(line, LinePart(match.start(), match.end(), floating)), line)
    return pieces


def _is_markup(tag: str, line: str) -> bool:
    """Whether a tag marks text, unlike <Enter> or <John Smith>, which are text."""
    name = re.match(r"</?([A-Za-z][\w:-]*)", tag)
    if name is None or "=" in tag or tag.endswith("/>"):
        return True
    return _MARKUP.fullmatch(name[1]) is not None or f"</{name[1]}" in line


def _whole(line: str, part: LinePart) -> LinePart:
    """A part with the letters that it is one word with; a tag is no part of a word."""
    if part.floating and line[part.start] != "&":
        return part
    before = _WORD_BEFORE.search(line, 0, part.start)
    after = _WORD_AFTER.match(line, part.end)
    start = before.start() if before and _joins(line[part.start]) else part.start
    end = after.end() if after and _joins(line[part.end - 1]) else part.end
    glued = (start, end) != (part.start, part.end)
    return LinePart(start, end, part.floating and not glued)


def _joins(character: str) -> bool:
    return not character.isspace()


def _add(pieces: list[LinePart], part: LinePart, line: str) -> None:
    """A part to those before it; those that touch are one unless a tag is among them."""
    last = pieces[-1] if pieces else None
    if last is not None and last.end >= part.start and not (last.floating and part.floating):
        if last.floating != part.floating and last.end == part.start:
            pieces.append(part)  # {name}<br>: each for itself
            return
        pieces[-1] = LinePart(last.start, max(last.end, part.end), False)
        return
    pieces.append(part)


@cache
def _compiled(script: str | None) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What may begin a part, and the parts, where a line's language has this script."""
    letters = _foreign_to(script)
    foreign = "" if script is None else rf"|(?P<foreign>{letters}+(?:[\s·]*{letters}+)*)"
    alone = rf"`{{}}<>@#\\/_~²³ʕ{_EMOJI}{_ODD_SIGNS}"
    if script is not None:
        alone += letters[1:-1]
    spark = rf"[{alone}$&*^=|+'\[%.:;8!(€£¥\d-](?:(?<=[{alone}])|{'|'.join(_AROUND)})"
    pattern = (
        rf"(?P<code>{_CODE})|(?P<template>{_TEMPLATE})|(?P<variable>{_VARIABLE})"
        rf"|(?P<braces>{_BRACES})|(?P<tag>{_TAG})|(?P<bracket>{_BRACKET})|(?P<face>{_FACE})|(?P<address>{_ADDRESS})"
        rf"|(?P<format>{_FORMAT})|(?P<entity>{_ENTITY})|(?P<path>{_PATH})|(?P<escape>{_ESCAPE})"
        rf"|(?P<handle>{_HANDLE})|(?P<file>{_FILE})|(?P<name>{_NAME})|(?P<numbered>{_NUMBERED})"
        rf"|(?P<command>{_COMMAND})|(?P<rule>{_RULE})|(?P<pictures>{_PICTURES})|(?P<storm>{_STORM})|(?P<odd>{_ODD}){foreign}"
        rf"|(?P<angles>{_ANGLES})"
    )
    return re.compile(spark), re.compile(pattern, re.S)


def _foreign_to(script: str | None) -> str:
    """A class of the letters that are of another script and not Latin."""
    first, last = _OWN.get(script or "", (0, 0))
    ranges = []
    for start, end in _FOREIGN:
        for low, high in ((start, min(end, first - 1)), (max(start, last + 1), end)):
            if low <= high:
                ranges.append(f"\\U{low:08x}-\\U{high:08x}")
    return f"[{''.join(dict.fromkeys(ranges))}]"
