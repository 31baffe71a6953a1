"""Data files through translators that copy: values that are text change, nothing else does."""

import json
import re

import pytest
import yaml
from echo import echo, swapped
from hypothesis import given
from hypothesis import strategies as st

from sieve.documents import translate_bytes
from sieve.errors import InputError

JSON = """{"locale": "en", "title": "Good day, {name}!", "id": "save", "n": 3, "on": true,
 "Save it": "Save", "list": ["one day", null], "url": "https://a.b/c d",
 "c": "{n, plural, one {# day} other {# days}} left", "html": "a <b>red\\nroof</b>"}
"""
YAML = """en:
  # A Comment
  hello: "Good day"   # here
  bye: Good night & bye
  quoted: 'it''s late'
  id: save me
  n: 12
  long: >-
    Some words here
  list: [A day, "big car"]
  word: &x Some text
  again: *x
"""
PROPERTIES = (
    "# Comment\ngreeting=Good day {0}\nlong : one \\\n   two words\nq=It''s \\u00e9 time\nempty=\n"
)
STRINGS = '/* C */\n"a b" = "Good \\"day\\"\\nNow";\n// x\nkey = "Some words";\n'
DICT = (
    "<plist><dict><key>a</key><dict><key>NSStringFormatValueTypeKey</key><string>d</string>"
    "<key>one</key><string>one day</string></dict></dict></plist>"
)
RESX = (
    '<root><data name="a"><value>Good day</value><comment>no words</comment></data>'
    '<data name="b" type="x"><value>Some words</value></data></root>'
)
ANDROID = (
    '<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">'
    '<string name="a" translatable="false">A b</string><string name="b">Don\\\'t <b>go</b></string>'
    '<string name="c">@string/b</string><plurals name="p"><item quantity="one">A day</item>'
    '</plurals><string name="g">A <xliff:g id="n">%1$s</xliff:g> day</string></resources>'
)


def out(document: str, name: str) -> str:
    data = translate_bytes(echo(swapped, languages=("en", "de")), document.encode(), name)
    return data.decode()


@pytest.mark.parametrize(
    ("name", "document"),
    [("a.json", JSON), ("a.yaml", YAML), ("a.properties", PROPERTIES), ("a.strings", STRINGS),
     ("a.stringsdict", DICT), ("a.resx", RESX), ("a.xml", ANDROID), ("a.json", "[]"),
     ("a.yml", ""), ("a.properties", ""), ("a.strings", "")],
)  # fmt: skip
def test_a_copier_changes_nothing(name: str, document: str) -> None:
    assert translate_bytes(echo(), document.encode(), name) == document.encode()
    crlf = document.replace("\n", "\r\n").encode()
    assert translate_bytes(echo(), crlf, name) == crlf


def test_json() -> None:
    assert out(JSON, "a.json") == JSON.replace('"en"', '"de"').replace(
        "Good day, {name}", "gOOD DAY, {NAME}"
    ).replace('"Save"', '"sAVE"').replace("one day", "ONE DAY").replace(
        "{# day} other {# days}} left", "{# DAY} other {# DAYS}} LEFT"
    ).replace("a <b>red\\nroof", "A <b>RED\\nROOF")


def test_yaml() -> None:
    done = out(YAML, "a.yaml")
    expected = YAML.replace("en:", "de:")
    texts = ["Good day", "Good night & bye", "it''s late", "Some words here", "A day", "big car"]
    for text in [*texts, "Some text"]:
        expected = expected.replace(text, swapped(text))
    assert done == expected


def test_yaml_that_needs_quotes_gets_them() -> None:
    colons = echo(lambda piece: ": x" if piece.endswith("day") else piece)
    done = translate_bytes(colons, b"a: Good day\nb: [A day]\n", "a.yaml").decode()
    assert yaml.safe_load(done) == {"a": "Good: x", "b": ["A: x"]}


def test_properties() -> None:
    done = out(PROPERTIES, "a.properties")
    assert "greeting=gOOD DAY {0}\n" in done
    assert "long : ONE TWO WORDS\n" in done
    assert "q=iT''S \\u00e9 TIME\n" in done
    assert done.startswith("# Comment\n") and done.endswith("empty=\n")


def test_apple() -> None:
    assert out(STRINGS, "a.strings") == STRINGS.replace("Good", "gOOD").replace(
        "day", "DAY"
    ).replace("Now", "nOW").replace("Some words", "sOME WORDS")
    assert out(DICT, "a.stringsdict") == DICT.replace("one day", "ONE DAY")


def test_resx() -> None:
    assert out(RESX, "a.resx") == RESX.replace("Good day", "gOOD DAY")


def test_android() -> None:
    done = out(ANDROID, "a.xml")
    assert "dON\\'T <b>GO</b>" in done and ">a DAY<" in done
    assert '>a <xliff:g id="n">%1$s</xliff:g> DAY<' in done
    assert ">A b<" in done and ">@string/b<" in done


@pytest.mark.parametrize(
    ("name", "document", "message"),
    [
        ("a.json", '{"a": "b', "no JSON: Unterminated string starting at in line 1"),
        ("a.json", "[" * 100000, "no JSON: nested too deep"),
        ("a.yaml", "a: [b\n", "no YAML: expected ',' or ']', but got '<stream end>' in line 2"),
        ("a.yaml", "a: 'b\n", "no YAML: found unexpected end of stream in line 2"),
        ("a.strings", '"a" = "b\n', 'line 1: got "a" = "b, expected "key" = "value";'),
        ("a.properties", "a=b\\", "line 1: a backslash at the end, expected another line"),
        ("a.resx", "<root><data>", "not well-formed XML: it ends too early"),
    ],
)
def test_what_is_broken_is_refused(name: str, document: str, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(f'{name}: {message}')}$"):
        translate_bytes(echo(), document.encode(), name)


def test_aliases_do_not_grow() -> None:
    bomb = "a: &a [x y]\n" + "".join(
        f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n"
        for a, b in zip("abcdefghij", "bcdefghijk", strict=True)
    )
    assert translate_bytes(echo(), bomb.encode(), "a.yaml") == bomb.encode()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab \n\"\\{}<>,'é:#", max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=8,
)


@given(value=VALUES)
def test_made_up_data(value: object) -> None:
    document = json.dumps(value, indent=1).encode()
    assert translate_bytes(echo(), document, "a.json") == document
    json.loads(translate_bytes(echo(swapped), document, "a.json"))
    document = yaml.safe_dump(value, allow_unicode=True).encode()
    assert translate_bytes(echo(), document, "a.yaml") == document
    yaml.safe_load(translate_bytes(echo(swapped), document, "a.yaml"))


@given(document=st.text("ab =\"';\\\n/*{}<>[]:&#u,-|", max_size=40))
@pytest.mark.parametrize("suffix", ["json", "yaml", "properties", "strings", "resx", "xml"])
def test_anything_is_copied_or_refused(suffix: str, document: str) -> None:
    try:
        done = translate_bytes(echo(), document.encode(), f"a.{suffix}")
    except InputError:
        return
    assert done == document.encode()
