"""Markdown through translators that copy: a renderer must see no difference."""

import re
from collections import Counter

import pytest
from echo import echo, swapped
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sieve.documents import read_document, translate_document
from sieve.translate.translator import Translator

KEPT = [
    "",
    "\n\n",
    "bda fga\n",
    "# bda\n\n## fga ##\n\nbda\n===\n\nkla\n---\n",
    "---\ntitle: bda\n---\nfga\n",
    "```py\nbda *fga*\n```\n\n~~~\nbda\n```\n~~~\n",
    "    bda\n    fga\n\nkla\n",
    "- bda\n- fga\n  - kla\n\n1. bda\n2) fga\n\n* [ ] bda\n* [x] fga\n",
    "> bda **fga**\n>\n> - kla\n",
    "bda *fga* **kla** ***bda*** ~~fga~~ _kla_ __bda__\n",
    "bda `fga` ``k`la`` <https://a.b/c> https://a.b/c_d_e.\n",
    "[bda](http://x.y/z_(1) \"fga\") ![kla](a.png) [fga][one] [kla]\n\n[one]: http://x.y 'bda'\n",
    "| bda | fga |\n|:---|---:|\n| kla \\| 1 | `x` |\n",
    "bda  \nfga\\\nkla\n",
    "bda[^1]\n\n[^1]: fga\n",
    "<div>\n<p>bda <b>fga</b></p>\n</div>\n\nbda <b>fga</b> kla\n",
    "2 * 3 * 4 snake_case_name [fga] a < b\n",
    "\\*bda\\* \\[fga\\]\n",
    "***\n\n___\n\n- - -\n",
    # as real documents have it: marks that touch code, links and addresses
    "bda (`fga()`), kla (http://x.y/z/), *bda (fga)*.\n",
    "[`bda()`](x), (`--fga`) {`kla`}.\n",
    "bda\n> fga\n",
    "    >>> bda\n    >>> fga\n",
    "bda\r\n\r\nfga\r\n",
    "bda",
    "<!-- bda -->\n\n<pre>\nbda\n\nfga\n</pre>\n",
]


@pytest.mark.parametrize("document", KEPT)
def test_a_copier_changes_nothing(copier: Translator, document: str) -> None:
    assert translate_document(copier, document, "markdown") == document


@pytest.mark.parametrize("document", KEPT)
def test_twice_in_other_capitals_nothing_changes(document: str) -> None:
    translator = echo(swapped)
    once = translate_document(translator, document, "markdown")
    twice = translate_document(translator, once, "markdown")
    assert twice.split() == document.split()  # the lines of a paragraph become one


def test_titles_and_the_language_of_front_matter() -> None:
    document = (
        '---\ntitle: Bda: fga\nsummary: bda\ndescription: "x \\"bda\\""\n'
        "subtitle: 'it''s'\nlang: en\ntags: [bda]\nslug: bda\n---\n[x](y \"bda\")\n"
    )
    out = translate_document(echo(swapped, languages=("en", "de")), document, "markdown")
    assert out == (
        '---\ntitle: "bDA: FGA"\nsummary: BDA\ndescription: "X \\"BDA\\""\n'
        "subtitle: 'IT''S'\nlang: de\ntags: [bda]\nslug: bda\n---\n[X](y \"BDA\")\n"
    )


@pytest.mark.parametrize(
    ("document", "sentences"),
    [
        ("# Bda *fga*\n\nKla. Bda.\n", ["Bda fga", "Kla.", "Bda."]),
        ("bda\nfga\n- kla\n", ["bda fga", "kla"]),
        ("> bda\n> fga\n", ["bda fga"]),
        ('[bda](fga "kla") `fga` ![kla](x)\n', ["kla", "kla", "bda fga"]),
        ("```\nbda\n```\n---\n| a | b |\n|---|---|\n| c | 1 |\n", ["a", "b", "c"]),
        ("\\*bda\\* &lt; &copy;\n", ["*bda* < ©"]),
    ],
)
def test_what_is_translated(document: str, sentences: list[str]) -> None:
    assert read_document(document, "markdown").sentences == sentences


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("**bda** fga", "fga **bda**"),
        ("[bda](x) and *fga kla*", "*kla fga* and [bda](x)"),
        ("bda\nfga *kla*", "*kla* fga bda"),
        ("[bda] fga\n\n[bda]: x", "fga [bda][bda]\n\n[bda]: x"),
        ("[bda][] fga\n\n[bda]: x", "fga [bda][bda]\n\n[bda]: x"),
        ("bda 1. fga", "fga. 1 bda"),
        ("bda - fga", "fga - bda"),
    ],
)
def test_marks_go_with_their_words(turner: Translator, document: str, expected: str) -> None:
    assert translate_document(turner, document, "markdown") == expected


def test_a_paragraph_does_not_become_a_list(turner: Translator) -> None:
    found = translate_document(turner, "bda -\n", "markdown")
    assert rendered(found) == "<p>- bda</p>"


def rendered(document: str) -> str:
    """HTML, with soft breaks and white space that no reader sees set aside."""
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(document)
    return re.sub(r"\s+", " ", html).strip()


PARTS = ["bda", "fga ", " kla", "*", "**", "_", "`", "[", "](x)", "]", "!", "\n", "\n\n", "- ",
         "> ", "1. ", "# ", "\\", "<b>", "</b>", "&amp;", "| ", "~~", "  \n", "    ",
         "."]  # fmt: skip


@given(document=st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_soup_loses_nothing(copier: Translator, turner: Translator, document: str) -> None:
    found = translate_document(copier, document, "markdown")
    assert _letters(found) == _letters(document)
    turned = translate_document(turner, document, "markdown")
    assert not Counter(_letters(document)) - Counter(_letters(turned))


def _letters(text: str) -> str:
    """Those that stand in words alone, not in tags or references."""
    return "".join(c for c in text if c in "dfgkl1")


WORD = st.sampled_from(["bda", "fga", "kla", "bda,", "fga."])
SPAN = st.one_of(
    WORD, WORD,
    st.builds("*{}*".format, WORD), st.builds("**{}**".format, WORD),
    st.builds("[{} {}](http://x.y/z)".format, WORD, WORD), st.builds("`{}`".format, WORD),
    st.builds("*{} **{}***".format, WORD, WORD), st.builds("![{}](a.png)".format, WORD),
    st.builds("~~{}~~".format, WORD), st.builds("<i>{}</i>".format, WORD),
    st.sampled_from(["\\*", "2 * 3", "snake_case", "&amp;", "a < b", "[x]"]),
)  # fmt: skip
LINE = st.lists(SPAN, min_size=1, max_size=6).map(" ".join)
BLOCK = st.one_of(
    LINE,
    st.builds("{}\n{}".format, LINE, LINE),
    st.builds("## {}".format, LINE),
    st.builds("- {}\n- {}\n  - {}".format, LINE, LINE, LINE),
    st.builds("1. {}\n\n   {}".format, LINE, LINE),
    st.builds("> {}\n> {}".format, LINE, LINE),
    st.builds("| {} | {} |\n|---|---|\n| {} | {} |".format, WORD, WORD, SPAN, WORD),
    st.builds("```\n{}\n```".format, LINE),
    st.builds("    {}".format, LINE),
    st.builds("{}  \n{}".format, LINE, LINE),
    st.builds("<div>\n{}\n</div>".format, WORD),
)


@given(document=st.lists(BLOCK, max_size=5).map("\n\n".join))
def test_a_renderer_sees_no_difference(copier: Translator, document: str) -> None:
    found = translate_document(copier, document, "markdown")
    assert rendered(found) == rendered(document)
