"""Pages of templates: text stays text, and Jinja is asked for by the name of its extra."""

import sys

import pytest
from html_checks import checked

from sieve.errors import MissingExtraError
from sieve.pages.standalone import render

pytest.importorskip("jinja2")


def test_the_frame_is_a_whole_page_and_its_title_is_text() -> None:
    page = render("pages/frame.html", title="a < b & c")
    assert page.startswith("<!DOCTYPE html>\n") and "<title>a &lt; b &amp; c</title>" in page
    assert {"html", "head", "body", "style"} <= checked(page).seen
    assert "prefers-color-scheme: dark" in page and "width=device-width" in page


def test_without_jinja_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError) as error:
        render("pages/frame.html", title="")
    assert str(error.value) == (
        "an HTML page needs jinja2, which is not installed: pip install 'sieve-nmt[evaluate]'"
    )
