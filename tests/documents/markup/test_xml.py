"""XML in tokens: what is well-formed comes back as it is, what is not is refused."""

import re
from xml.parsers import expat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.documents.formats import DamagedError
from sieve.documents.markup.xml_tokens import attributes, escaped, unescaped, xml_tokens

PIECES = [
    "<a>", "</a>", "<b x='1' y=\"&amp;\">", "</b>", "<c/>", "bda", "&lt;", "&#65;", "<!-- - -->",
    "<?p q?>", "<![CDATA[<]]>", "<", ">", "&", "&x;", "]]", "<a", "</a", "é\n", "<!DOCTYPE a>",
    "<!DOCTYPE a [<!ENTITY x 'y'>]>",
]  # fmt: skip


def is_well_formed(text: str) -> bool:
    try:
        expat.ParserCreate().Parse(text, True)
    except expat.ExpatError:
        return False
    return True


def tokens(text: str, size: int = 10**6) -> list[str]:
    chunks = [text[place : place + size] for place in range(0, len(text), size)]
    return [token.raw for token in xml_tokens(chunks, {})]


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=8), size=st.integers(1, 20))
def test_as_a_parser_sees_it(pieces: list[str], size: int) -> None:
    text = f"<a>{''.join(pieces)}</a>"
    try:
        out = tokens(text, size)
    except DamagedError:
        # stricter than XML: no declarations inside a document type
        assert not is_well_formed(text) or "[<!ENTITY" in text
        return
    assert "".join(out) == text
    assert is_well_formed(text) or "]]>" in text or "<!DOCTYPE" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not well-formed XML: it ends too early"),
        ("<a>", "not well-formed XML: it ends too early"),
        ("<a></b>", "not well-formed XML at character 4: got </b>, expected </a>"),
        ("<a>&bda;</a>", "not well-formed XML at character 4: unknown entity"),
        ("<a/><b/>", "not well-formed XML at character 5: a second root"),
        ("<a/>bda", "not well-formed XML at character 5: text outside tags"),
        ("<a x=1/>", "not well-formed XML at character 1"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "not well-formed XML at character 1"),
        ("<a>" * 201, "nested more than 200 deep at character 601"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(DamagedError, match=f"^{re.escape(message)}$"):
        tokens(text)


def test_names_by_their_namespaces() -> None:
    text = '<a xmlns="u:1" xmlns:p="u:2"><p:b/><c xmlns="u:3"><p:d/></c><e/></a>'
    names = [token.name for token in xml_tokens([text], {"u:1": "x", "u:2": ""}) if token.name]
    assert names == ["x:a", "b", "{u:3}c", "d", "{u:3}c", "x:e", "x:a"]


def test_attributes() -> None:
    assert attributes("<a b = '1' c:d=\"&lt;'\"/>") == {"b": "1", "c:d": "<'"}


@given(text=st.text(alphabet="a<>&\"'é\t\n ]"))
def test_what_is_written_is_read(text: str) -> None:
    assert unescaped(escaped(text)) == text


def test_what_xml_cannot_say_is_a_space() -> None:
    assert escaped("a\x00b\x0bc\ufffe") == "a b c "


def test_text_may_be_written_in_sections() -> None:
    assert unescaped("a&amp;<![CDATA[<&amp;]]><!-- b -->c") == "a&<&amp;c"
