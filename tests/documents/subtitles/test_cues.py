"""Subtitles through translators that copy: times and turns stay, sentences go over cues."""

import re

import pytest
from echo import echo, swapped
from hypothesis import given
from hypothesis import strategies as st

from sieve.documents import read_document, translate_bytes
from sieve.documents.subtitles.division import split
from sieve.errors import InputError

SRT = """1
00:00:01,000 --> 00:00:03,000
We wanted to say
that tomorrow

2
00:00:03,100 --> 00:00:05,000
we will not come.

3
00:00:06,000 --> 00:00:08,000
- Where is <i>it</i>?
- There.

4
00:00:09,000 --> 00:00:10,000
<i>He gave it</i>

5
00:00:10,100 --> 00:00:12,000
<i>to her.</i>
"""
VTT = """WEBVTT - A file

NOTE A note that
is kept

STYLE
::cue { color: red }

intro
00:01.000 --> 00:03.000 align:start line:0
<v Fred>Hello &amp; good <00:02.000>day

00:04.000 --> 00:05.000
Bye
"""


@pytest.mark.parametrize(("name", "document"), [("a.srt", SRT), ("a.vtt", VTT)])
def test_a_copier_changes_nothing(name: str, document: str) -> None:
    for text in (document, document.replace("\n", "\r\n"), "\ufeff" + document):
        assert translate_bytes(echo(), text.encode(), name) == text.encode()


def test_sentences_go_over_cues() -> None:
    assert read_document(SRT, "srt").sentences == [
        "We wanted to say that tomorrow we will not come.",
        "Where is it?",
        "There.",
        "He gave it to her.",
    ]


def test_cues_keep_their_share() -> None:
    done = translate_bytes(echo(swapped), SRT.encode(), "a.srt").decode()
    assert done == re.sub(
        r"^(?!<)[A-Za-z].*|(?<=>)[\w .]+(?=<)|(?<=- )\w[\w ]*",
        lambda match: match[0].swapcase(),
        SRT.replace("say\nthat", "say that"),
        flags=re.M,
    )


def test_webvtt() -> None:
    done = translate_bytes(echo(swapped), VTT.encode(), "a.vtt").decode()
    assert done == VTT.replace("Hello", "hELLO").replace("good", "GOOD").replace(
        "day", "DAY"
    ).replace("Bye", "bYE")


def test_breaks_are_where_pauses_are() -> None:
    assert split("If it rains, we stay at home.", [10, 20]) == ["If it rains,", "we stay at home."]
    assert split("今日は雨です。家にいます。", [7, 6]) == ["今日は雨です。", "家にいます。"]
    assert split("Yes.", [3, 3]) == ["Yes.", "Yes."]


@pytest.mark.parametrize(
    ("name", "document", "message"),
    [
        ("a.srt", "hello\n", "no cues, expected timings such as 00:00:01,000 --> 00:00:02,500"),
        ("a.srt", "1\n0:1 --> 0:2\na\n", "line 2: got '0:1 --> 0:2', expected a timing such as "),
        ("a.vtt", "1\n", "line 1: got ['1'], expected WEBVTT"),
    ],
)
def test_what_is_broken_is_refused(name: str, document: str, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(f'{name}: {message}')}"):
        translate_bytes(echo(), document.encode(), name)


@given(
    texts=st.lists(st.text("ab .,-<i>/\n", min_size=1, max_size=30), max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_made_up_cues(texts: list[str], end: str) -> None:
    times = (f"00:00:{n:02},000 --> 00:00:{n:02},900" for n in range(60))
    cues = (f"{n}\n{next(times)}\n{text}\n\n" for n, text in enumerate(texts, 1))
    document = "".join(cues).replace("\n", end)
    try:
        done = translate_bytes(echo(), document.encode(), "a.srt")
    except InputError:
        return
    assert done == document.encode()
    turned = translate_bytes(echo(swapped, backwards=True), document.encode(), "a.srt").decode()
    assert re.findall(".*-->.*", turned) == re.findall(".*-->.*", document)
