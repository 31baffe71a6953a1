"""Tables of a page: whatever they hold is text."""

import pytest
from html_checks import checked

from sieve.evaluate.present.text_table import Table
from sieve.evaluate.report.report_page import Section
from sieve.pages.standalone import render

pytest.importorskip("jinja2")


def test_whatever_a_table_holds_is_text() -> None:
    table = Table("<t>", ("a", "b"), (("<script>", "1 & 2"),), ('"note" <i>',))
    sections = [Section("<h>", tables=[table])]
    text = render("evaluate/report/report.html", title="<title>", sections=sections)
    assert "script" not in checked(text).seen
    assert "&lt;script&gt;" in text and "1 &amp; 2" in text and "<title>&lt;title&gt;" in text
    assert '<section id="part0"><h2>&lt;h&gt;</h2>' in text and "<i>" not in text
