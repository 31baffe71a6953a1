"""HTML through translators that copy: whatever changes then, the document code has changed."""

import html
import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import pytest
from echo import echo, swapped
from hypothesis import given
from hypothesis import strategies as st

from sieve.documents import read_document, translate_document
from sieve.documents.markup.html_tokens import html_tokens
from sieve.errors import ConfigError
from sieve.translate.translator import Translator

KEPT = [
    "",
    " \n ",
    "<p>bda</p>",
    "<!DOCTYPE html>\n<html><head><title>bda &amp; fga</title></head><body> bda </body></html>",
    "<p>bda <b>fga</b>, <i>kla</i>!</p>",
    "<script>if (a < b && c > d) { x = '<p>bda</p>' }</script>",
    "<style>p > b { color: red }</style><textarea>bda <b>fga</textarea>",
    "<pre>bda\n  fga</pre><p>bda <code>fga()</code> kla</p>",
    "<!-- bda --><p>bda<!-- fga --> kla</p><![CDATA[ x ]]><?php echo 1 ?>",
    "<ul><li>bda<li>fga</ul>bda<br>fga<hr/>kla",
    "<p>bda <a href='x?a=1&b=2' title='bda &amp; fga'>fga</a> <img src=x alt=\"kla\"> bda</p>",
    "<p translate=no>bda <b>fga</b></p><p class='a notranslate'>bda</p>",
    "bda <span translate=\"no\">fga <span>kla</span></span> bda",
    "<p>1 &lt; 2 &amp; 3 &gt; 2 a < b</p>".replace("a < b", "bda"),
    "<table><tr><td>bda<td>&nbsp;</table>",
    "bda<sup><a href=#n1>[1]</a></sup> fga",
    "<b><p>bda</b> fga</p><i>kla",
    "<p>bda <a id=x></a> fga</p>",
    "</p>bda</b>",
    "<p>bda <b",
    "<p>bda <a href=\"fga",
    "<!-- bda",
    "<script>bda",
    "<plaintext><b>bda",
    "bda <a href=x><code>...</code> fga kla</a>, bda",
    "<svg><text>bda</text></svg><math><mi>x</mi></math>",
    "<input placeholder='bda' value='fga'>",
]  # fmt: skip


@pytest.mark.parametrize("document", KEPT)
def test_a_copier_changes_nothing(copier: Translator, document: str) -> None:
    assert translate_document(copier, document, "html") == document


@pytest.mark.parametrize("document", KEPT)
def test_twice_in_other_capitals_nothing_changes(document: str) -> None:
    translator = echo(swapped)
    once = translate_document(translator, document, "html")
    assert translate_document(translator, once, "html") == document


def test_what_people_read_in_tags() -> None:
    document = (
        '<html lang="en-US"><meta name="Description" content="bda"><meta name="x" content="bda">'
        '<meta property="og:title" content="fga"><p><img alt="kla"></p>'
        '<input type=submit value="bda">'
        '<input type=text value="bda"><b lang="fr" aria-label="mla">1</b></html>'
    )
    assert translate_document(echo(swapped, languages=("en", "de")), document, "html") == (
        '<html lang="de"><meta name="Description" content="BDA"><meta name="x" content="bda">'
        '<meta property="og:title" content="FGA"><p><img alt="KLA"></p>'
        '<input type=submit value="BDA">'
        '<input type=text value="bda"><b lang="fr" aria-label="MLA">1</b></html>'
    )


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("<b>bda</b> fga", "fga <b>bda</b>"),
        ("bda <b>fga <i>kla</i></b>", "<b><i>kla</i> fga</b> bda"),
        ("<b>bda. Fga.</b> Kla", None),
        ("bda <code>fga</code> kla", "kla <code>fga</code> bda"),
        ("bda <img> fga", None),
    ],
)
def test_tags_go_with_their_words(turner: Translator, document: str, expected: str | None) -> None:
    found = translate_document(turner, document, "html").strip()
    assert tags(found) == tags(document)
    if expected is not None:
        assert re.sub(" +", " ", found) == expected


@pytest.mark.parametrize(
    ("document", "sentences"),
    [
        ("<p>Bda fga. Kla!</p><p>Fga</p>", ["Bda fga.", "Kla!", "Fga"]),
        ("<p>Dr. Bda am 3. Fga.</p>", ["Dr. Bda am 3. Fga."]),
        ("<p>a\n  <b>b</b>&nbsp;c</p>", ["a b c"]),
        ("<p title='bda &amp;copy &copy=1 &quot;'>12</p>", ['bda &copy &copy=1 "']),
        ("<p title=bda>12</p><script>bda</script><!-- fga --><code>kla</code>", []),
        ("A<b>B</b>C&amp;D &eacute;", ["ABC&D é"]),
        ("<select><option>bda</option></select>", []),
    ],
)
def test_what_is_translated(document: str, sentences: list[str]) -> None:
    assert read_document(document, "html").sentences == sentences


def test_what_the_model_says_is_text_not_markup(copier: Translator) -> None:
    text = '<p title="bda &quot;&gt;&lt;b&gt;">&lt;script&gt;bda(1)&lt;/script&gt; &amp;amp;</p>'
    found = translate_document(copier, text, "html")
    assert tags(found) == tags(text)
    assert html.unescape(found) == html.unescape(text)


def test_unknown_format() -> None:
    with pytest.raises(ConfigError, match=r"format: got 'rtf', expected one of html, markdown, la"):
        read_document("", "rtf")


def tags(document: str) -> Counter[str]:
    return Counter(token.raw for token in html_tokens(document) if token.kind != "text")


def words(document: str) -> str:
    texts = [html.unescape(token.raw) for token in html_tokens(document) if token.kind == "text"]
    return "".join("".join(texts).split())


NAMES = ["b", "i", "a", "span", "p", "div", "li", "br", "img", "code", "sup", "td", "custom-x"]
SOUP = st.lists(
    st.one_of(
        st.sampled_from(NAMES).map(lambda name: f"<{name}>"),
        st.sampled_from(NAMES).map(lambda name: f"</{name}>"),
        st.sampled_from(["bda", " ", "fga. ", "Kla", "ü!", "&amp;", "&lt;b&gt;", "1", "\n", ", "]),
        st.sampled_from(["<!-- x -->", "<a title='bda fga'>", "<b translate=no>", "<script>"]),
    ),
    max_size=25,
).map("".join)


@given(document=SOUP)
def test_soup_keeps_its_tags_and_text(
    copier: Translator, turner: Translator, document: str
) -> None:
    found = translate_document(copier, document, "html")
    assert tags(found) == tags(document)
    assert words(found) == words(document)
    turned = translate_document(turner, document, "html")
    bare = re.sub(" title='.*?'", "", document)
    assert tags(re.sub(" title='.*?'", "", turned)) == tags(bare)


@given(document=st.text(alphabet="<>/!-'\"= \nabp&;#x1]\ufeff\x00é", max_size=60))
def test_anything_is_cut_into_tokens_that_are_it(copier: Translator, document: str) -> None:
    assert "".join(token.raw for token in html_tokens(document)) == document
    translate_document(copier, document, "html")


class Seen(HTMLParser):
    """What Python's parser finds: an oracle for documents that are well formed."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, Any]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, [(name, value or "") for name, value in attrs]))

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}", []))


ATTRIBUTE = st.builds(
    "{}={}".format,
    st.sampled_from(["href", "TITLE", "data-x"]),
    st.sampled_from(['"a b"', "'<b>'", "x/y", '"a>b"', '""']),
)
TAGS = st.lists(
    st.one_of(
        st.builds("<{} {}>".format, st.sampled_from(["a", "B", "p"]), ATTRIBUTE),
        st.builds("<{} {} disabled >".format, st.sampled_from(["a", "H1"]), ATTRIBUTE),
        st.sampled_from(["</a>", "</B >", "bda", "a < b", "<br/>", "<!-- <b> -->"]),
    )
).map("".join)


@given(document=TAGS)
def test_same_tags_as_pythons_parser(document: str) -> None:
    oracle = Seen()
    oracle.feed(document)
    oracle.close()
    found = [
        (f"/{one.name}", []) if one.kind == "end"
        else (one.name, [(attribute.name, attribute.value) for attribute in one.attributes])
        for one in html_tokens(document)
        if one.kind in ("start", "end")
    ]  # fmt: skip
    expected = [(tag, values) for tag, values in oracle.found if tag != "/br"]
    assert found == expected


LARGE = [
    "<b>" * 3000 + "bda" + "</b>" * 3000,
    "<b>bda</b> " * 1000,
    "<b></b>" * 3000,
    "<" * 20000,
    "<a " * 5000,
    "&" * 20000,
]


@pytest.mark.parametrize("raw", LARGE)
def test_large_and_deep(copier: Translator, raw: str) -> None:
    found = translate_document(copier, raw, "html")
    assert tags(found) == tags(raw)
