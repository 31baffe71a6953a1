"""Words that a translation has as its source has them, and that models mostly copy.

Codes, names of programs and a few signs: the model reads them, and they are looked for afterwards.
"""

import re
from collections.abc import Iterator

from sieve.repair.draft import Span

_SPARK = re.compile(  # begins with rare characters, for which a search is fast
    r"[A-Z\d.©®™√∞≈≠≤≥±](?:(?<=[a-z\d][A-Z])|(?<=[A-Za-z]\d)|(?<=[A-Za-z][-/:.]\d)"
    r"|(?<=\d[./_-][A-Z])|(?<=\d\d\d[/:]\d)|(?<=\w\.)(?=[A-Za-z_]\w)|(?<=[©®™√∞≈≠≤≥±]))"
)
_SEGMENT = r"(?:[A-Z]{1,6}\d*|[A-Za-z]{1,4}\d[A-Z\d]*[a-z]?|\d+[A-Z]+\d\w*|\d[DGK]|\d+)"
_WATCHED = re.compile(
    rf"(?<![\w.,€$£])(?P<code>{_SEGMENT}(?:[-/.:_](?:{_SEGMENT}|\d+[A-Z]+))*)(?!\w)"
    r"|(?<![\w.])(?P<camel>[a-z]+[A-Z][A-Za-z\d]{2,}|[a-z]{2,}[A-Z][A-Za-z\d]+"
    r"|(?:[A-Z][a-z]{2,}){2,})(?!\w)"
    r"|(?<![\w.@/-])(?P<dotted>[A-Za-z_]\w+(?:\.[a-z_]\w+)+|[A-Za-z_]\w+(?:\.[A-Za-z_]\w+){2,})"
    r"(?![\w(])"
    r"|(?P<sign>[©®™√∞≈≠≤≥±])"
)
_FIGURES = re.compile(r"\d{3,}[/:]\d{2,}")
_SIZE = re.compile(r"\d[DGK]")
_NO_CODE = re.compile(r"[A-Z]\.\d+|(?:EU|UN|UNO|US|USA|UK|NATO)\W.*")  # S.5 is p. 5; UE-27
_NO_NAME = re.compile(r".*Inn?en|(?:Mac|Van|Von|Fitz)[A-Z].*")  # LehrerInnen, MacArthur


def watched(line: str) -> Iterator[Span]:
    """The words and signs of a line that must stay as they are, from left to right."""
    if not _SPARK.search(line):
        return
    for match in _WATCHED.finditer(line):
        kind, word = match.lastgroup, match[0]
        if kind == "code" and not _is_code(word):
            continue
        if kind == "camel" and _NO_NAME.fullmatch(word):
            continue
        yield match.span()


def lacks(line: str, translation: str) -> bool:
    """Whether a translation lacks one of these words of its line; an s of a genitive is none."""
    texts = [line[start:end].removesuffix("s") for start, end in watched(line)]
    return any(translation.count(text) < texts.count(text) for text in texts)


def _is_code(word: str) -> bool:
    """Whether letters and digits are a code, and neither an abbreviation nor a quantity."""
    if word.isalpha():
        return False
    if not any(map(str.isalpha, word)):
        return _FIGURES.fullmatch(word) is not None
    if not any(map(str.isdigit, word)):
        return False
    if word[0].isdigit() and word.isalnum():
        return _SIZE.fullmatch(word) is not None or word[-1].isdigit()
    return _NO_CODE.fullmatch(word) is None
