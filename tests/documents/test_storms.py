"""Storms of markup: twice as much is twice the work, and white space without end is none.

Instructions of Python are counted; patterns get far more time than they take.
"""

import sys
from types import FrameType
from typing import Any

import pytest
from child import printed
from echo import echo, swapped
from packages import word

from sieve.documents import translate_bytes
from sieve.errors import InputError

SIZE, MORE_THAN_TWICE = 1500, 2.35
STORMS = [
    ("latex", "$a $a "),
    ("latex", "{a "),
    ("latex", r"\emph{a b} "),
    ("latex", r"\a["),
    ("html", "<b>a "),
    ("html", "a</b> "),
    ("html", "<b>a</b> "),
    ("html", "a<wbr>"),
    ("html", "<i></i>a "),
    ("html", '<img alt="a b">'),
    ("markdown", "*a "),
    ("markdown", "a**b "),
    ("markdown", "*a _b "),
    ("markdown", "[a]("),
    ("markdown", "[a](b) "),
    ("markdown", "![a "),
    ("rst", "*a "),
    ("rst", ":a:`b` "),
    ("rst", "a_ "),
    ("xliff", '<g id="1">a </g>'),
    ("wrapped", "a\n"),
    ("text", "A. "),
]
PAIRS = [
    ("latex", "{a ", "} "),
    ("html", "<b>a ", "b </b>"),
    ("markdown", "[a ", "b] "),
    ("markdown", "*a ", "b_ "),
    ("markdown", "*a ", "b* "),
    ("markdown", "![", "](b)"),
    ("json", "{n, plural, one {a ", "}}"),
]
RUN = "<w:r><w:rPr><w:b/></w:rPr><w:t>a </w:t></w:r><w:r><w:t>b </w:t></w:r>"
AROUND = {
    "xliff": ('<xliff version="1.2"><file source-language="en"><body><trans-unit id="a">'
              "<source>", "</source></trans-unit></body></file></xliff>"),
    "json": ('{"a b": "', '"}'),
}  # fmt: skip


def work(data: bytes, format: str) -> int:
    """How many instructions of Python translating a document takes."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    translator = echo(swapped)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        translate_bytes(translator, data, "a", format)
    finally:
        sys.settrace(before)
    return count


def check(format: str, once: str, twice: str) -> None:
    first, last = AROUND.get(format, ("", ""))
    least, most = (work(f"{first}{text}{last}".encode(), format) for text in (once, twice))
    assert least > SIZE
    assert most < MORE_THAN_TWICE * least


@pytest.mark.parametrize(("format", "unit"), STORMS)
def test_twice_as_much_is_twice_the_work(format: str, unit: str) -> None:
    number = SIZE // len(unit)
    check(format, unit * number, unit * number * 2)


@pytest.mark.parametrize(("format", "begin", "end"), PAIRS)
def test_what_is_nested_twice_as_deep_is_twice_the_work(format: str, begin: str, end: str) -> None:
    number = 2 * SIZE // len(begin + end)  # deeper than elements are nested
    check(format, *(begin * times + end * times for times in (number, 2 * number)))


def test_runs_of_word() -> None:
    number = 40
    least, most = (
        work(word(f"<w:p>{RUN * times}</w:p>"), "docx") for times in (number, 2 * number)
    )
    assert most < MORE_THAN_TWICE * least


def test_fields_inside_each_other() -> None:
    begin, end = (f"<w:r><w:fldChar w:fldCharType='{kind}'/></w:r>" for kind in ("begin", "end"))
    translate_bytes(echo(), word(f"<w:p>{begin * 20}{end * 20}</w:p>"))
    with pytest.raises(InputError, match="fields are nested more than 20 deep"):
        translate_bytes(echo(), word(f"<w:p>{begin * 900}{end * 900}</w:p>"))


def test_yaml_inside_yaml() -> None:
    pytest.importorskip("yaml")
    for text in ("[" * 9000, "- " * 9000, "? " * 9000):
        with pytest.raises(InputError, match="no YAML: nested more than 200 deep in line 1"):
            translate_bytes(echo(), text.encode(), "a.yaml")


SPACES = [
    ("markdown", "# a", " ", "b"),
    ("markdown", "[a](", " ", "b"),
    ("markdown", "[a](c", " ", "b"),
    ("markdown", "a|b\n-|-", " ", "b\n"),
    ("markdown", "a", " ", "b"),
    ("markdown", "", "[^a", ""),
    ("markdown", "", "a <!-- ", ""),
    ("text", "a", ".", "b"),
    ("rst", "a", " ", "b"),
    ("rst", "`a", " ", "<b>`_"),
    ("rst", "", "a.", ""),
    ("latex", "", "\\a[", ""),
    ("json", '{"a b": "', "{", '"}'),
]
SECONDS = 60
"""Of a processor for all, which take about two: one pattern that goes back and forth takes more."""


def test_patterns_do_not_go_back_and_forth() -> None:
    code = f"""
import resource
from echo import echo, swapped
from sieve.documents import translate_bytes
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
for format, first, unit, last in {SPACES!r}:
    text = first + unit * (100_000 // len(unit)) + last
    translate_bytes(echo(swapped), text.encode(), "a", format)
print("all")
"""
    assert printed(code) == "all"
