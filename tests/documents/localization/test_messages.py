"""Catalogues with sources and translations: po and XLIFF."""

import re

import pytest
from echo import echo, swapped
from hypothesis import given
from hypothesis import strategies as st

from sieve.documents import translate_bytes
from sieve.errors import InputError

POT = r"""# Title
msgid ""
msgstr ""
"Language: \n"
"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\n"

#, c-format
#| msgid "old"
msgctxt "Menu"
msgid "Open \"%s\"\n"
msgstr ""

msgid "one day"
msgid_plural "%d days"
msgstr[0] ""
msgstr[1] ""

#, fuzzy
msgid "Some"
msgstr "Etwas"

#~ msgid "gone"
#~ msgstr ""
"""
XLIFF = (
    '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
    '<file source-language="en"><body>{}</body></file></xliff>'
)
XLIFF_2 = (
    '<xliff version="2.0" srcLang="en" xmlns="urn:oasis:names:tc:xliff:document:2.0">'
    '<file id="f"><unit id="u"{}>{}</unit></file></xliff>'
)


def out(document: str, name: str, target: str = "de") -> str:
    data = translate_bytes(echo(swapped, languages=("en", target)), document.encode(), name)
    return data.decode()


def test_a_template_is_filled() -> None:
    forms = "nplurals=2; plural=(n != 1);"
    expected = POT.replace("Language: ", "Language: de")
    expected = expected.replace("nplurals=INTEGER; plural=EXPRESSION;", forms)
    expected = expected.replace('%s\\"\\n"\nmsgstr ""', '%s\\"\\n"\nmsgstr "oPEN \\"%S\\"\\n"')
    expected = expected.replace('msgstr[0] ""', 'msgstr[0] "ONE DAY"')
    assert out(POT, "a.pot") == expected.replace('msgstr[1] ""', 'msgstr[1] "%D DAYS"')


@pytest.mark.parametrize(("target", "number"), [("ja", 1), ("pt-BR", 2), ("pl", 3), ("ar", 6)])
def test_as_many_forms_as_the_target_has(target: str, number: int) -> None:
    done = out(POT, "a.pot", target)
    forms = re.findall(r'msgstr\[(\d)\] "(.*)"', done)
    expected = ["ONE DAY", *["%D DAYS"] * 5][:number] if number > 1 else ["%D DAYS"]
    assert forms == [(str(n), text) for n, text in enumerate(expected)]
    assert f"nplurals={number}; plural=" in done


def test_a_full_catalogue_stays() -> None:
    full = 'msgid "a"\nmsgstr "b c"\n\nmsgid "d"\nmsgid_plural "e"\nmsgstr[0] "f"\nmsgstr[1] ""\n'
    assert out(full, "a.po") == full


def test_long_messages_go_over_lines() -> None:
    text = " ".join(["word"] * 30)
    lines = out(f'msgid "{text}"\nmsgstr ""\n', "a.po").splitlines()
    assert lines[1] == 'msgstr ""' and all(len(line) <= 80 for line in lines[1:])
    assert "".join(line.strip('"') for line in lines[2:]) == text.swapcase()


@given(text=st.text('ab \n\\"é%\t', min_size=1, max_size=40))
def test_a_copier_fills_in_the_source(text: str) -> None:
    raw = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    done = translate_bytes(echo(), f'msgid "{raw}"\nmsgstr ""\n'.encode(), "a.po").decode()
    assert done == f'msgid "{raw}"\nmsgstr "{raw}"\n'


def test_xliff_1() -> None:
    units = (
        '<trans-unit id="1">\n <source>Open <g id="1">it</g> <x id="2"/></source>\n <note>No</note>'
        "</trans-unit><trans-unit><source>A</source><target state='new'/></trans-unit>"
        "<trans-unit><source>A</source><target>B</target></trans-unit>"
        '<trans-unit translate="no"><source>A</source></trans-unit>'
    )
    expected = units.replace(
        "</source>\n", '</source>\n <target>oPEN <g id="1">IT</g> <x id="2"/></target>\n', 1
    ).replace("<target state='new'/>", "<target state='needs-review-translation'>a</target>")
    done = out(XLIFF.format(units), "a.xlf")
    assert done == XLIFF.format(expected).replace('"en">', '"en" target-language="de">')


def test_xliff_2() -> None:
    segment = '<segment state="initial"><source>Go <pc id="1">now</pc></source></segment>'
    expected = segment.replace("initial", "translated").replace(
        "</source>", '</source><target>gO <pc id="1">NOW</pc></target>'
    )
    done = out(XLIFF_2.format("", segment), "a.xlf")
    assert done == XLIFF_2.format("", expected).replace('"en"', '"en" trgLang="de"')
    kept = XLIFF_2.format(' translate="no"', segment)
    assert out(kept, "a.xlf") == kept.replace('"en"', '"en" trgLang="de"')


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ('msgid "a\nmsgstr ""\n', """line 1: got 'msgid "a', expected a comment, msgid "…", """),
        ('msgid "a"\n', """got 'msgid "a"', expected msgid with msgstr"""),
        ("Some text\n", "line 1: got 'Some text', expected a comment, msgid"),
    ],
)
def test_what_is_broken_is_refused(document: str, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(f'a.po: {message}')}"):
        translate_bytes(echo(), document.encode(), "a.po")
