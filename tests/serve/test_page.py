"""The page: what it may not hold, and in a real browser what it does.

The browser is Debian's Chromium (apt-get install chromium), driven by Playwright (pip install
'sieve-nmt[browser]'). Where one of them is missing, those tests are skipped.
"""

import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import PATIENCE, Site

from sieve.serve.web import pages

FILES = sorted(path for path in pages.FOLDER.iterdir() if path.is_file())
TEXT = "bda fga kla"
LOW = 2
"""Place of the slider at which a model with random weights says something."""
ASKED = {"source": "en", "target": "de", "threshold": 0.3}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_from_outside_and_nothing_inline(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"(https?:)?//\w+\.\w", re.sub(r"(?m)^\s*//.*", "", text))
    if path.suffix == ".html":
        assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=", text)
    if path.suffix == ".js":
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|document\.write", text
        )


def test_the_page_is_served(site: Site) -> None:
    page = site.ask("GET", "/")
    assert page.status == 200
    found = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.body.decode())
    assert len(found) == 2
    for path in found:
        assert site.ask("GET", path).status == 200


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium here")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield found
        found.close()


class Open:
    """A page with a text in it; whatever goes wrong in it is remembered."""

    def __init__(self, browser: Any, site: Site, **options: Any) -> None:
        self.wrong: list[str] = []
        self.page = browser.new_context(**options).new_page()
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url, site.url))
        self.page.goto(site.url)
        self.until(lambda: self.page.locator("#to option").count() > 0)
        self.write(TEXT)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(message.text)

    def _asked(self, url: str, home: str) -> None:
        if not url.startswith((home, "data:")):
            self.wrong.append(f"asked for {url}")

    def until(self, true: Callable[[], bool]) -> None:
        """Waits for something that must become true; the page's policy forbids other ways."""
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, "it never came true"
            self.page.wait_for_timeout(20)

    def write(self, text: str) -> None:
        with self.page.expect_response(lambda response: _asks_for_all_words(response.request)):
            self.page.fill("#source", text)
        self.page.wait_for_selector(".way")

    def slide(self, value: int) -> None:
        with self.page.expect_response(lambda response: _asks_for_all_words(response.request)):
            self.page.fill("#threshold", str(value))

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))


def _asks_for_all_words(request: Any) -> bool:
    return '"selection":"none"' in (request.post_data or "")


@pytest.mark.slow
def test_translates_as_one_types(browser: Any, site: Site) -> None:
    one = Open(browser, site)
    one.slide(LOW)
    expected = site.post("/v1/translate", {**ASKED, "texts": [TEXT]}).json
    one.until(lambda: one.text("#output") != "")
    assert one.text("#output") == expected["translations"][0]["translation"]
    assert one.text("#size").startswith(f"{expected['translations'][0]['set_size']} of 400")
    assert re.fullmatch(r"\d+\.\d ms", one.text("#time"))
    assert one.page.locator(".way h3").all_inner_texts() == [
        "All tokens", "Lexicon", "Neural selection",
    ]  # fmt: skip
    one.page.fill("#source", "")
    one.until(lambda: one.page.locator(".way").count() == 0)
    assert one.text("#output") == ""
    assert one.wrong == []


@pytest.mark.slow
def test_only_the_last_of_what_was_typed_counts(browser: Any, site: Site) -> None:
    one = Open(browser, site)
    one.slide(LOW)
    one.page.fill("#source", "")
    one.page.locator("#source").press_sequentially("kla bda fga bda", delay=40)
    found = site.post("/v1/translate", {**ASKED, "texts": ["kla bda fga bda"]}).json
    expected = found["translations"][0]["translation"]
    assert expected
    one.until(lambda: one.text("#output") == expected)
    one.page.wait_for_timeout(800)
    assert one.text("#output") == expected


@pytest.mark.slow
def test_words_by_pointer_and_keyboard(browser: Any, site: Site) -> None:
    one = Open(browser, site)
    buttons = one.page.locator("#words button")
    words = [text.split()[0] for text in buttons.all_inner_texts()]
    assert words == ["bda", "fga", "kla", "‹end›"]
    buttons.nth(1).hover()
    assert one.text("#votes").startswith("“fga” brings in ")
    buttons.nth(1).focus()
    one.page.keyboard.press("ArrowRight")
    assert one.text("#votes").startswith("“kla” brings in ")
    one.page.keyboard.press("Home")
    assert one.text("#votes").startswith("“bda” brings in ")
    assert buttons.nth(0).get_attribute("aria-pressed") == "true"
    voters = one.page.eval_on_selector_all(
        "#pieces span[data-voter]", "all => all.map((span) => [span.dataset.voter, span.className])"
    )
    assert voters and all((voter == "bda") == ("chosen" in name) for voter, name in voters)
    assert one.wrong == []


@pytest.mark.slow
def test_the_slider_shows_what_is_lost(browser: Any, site: Site) -> None:
    one = Open(browser, site)
    one.slide(0)
    one.until(lambda: one.text("#change").startswith("the same"))
    many = int(one.text("#size").split()[0])
    one.slide(12)
    one.until(lambda: "out of reach" in one.text("#change"))
    few = int(one.text("#size").split()[0])
    assert few < many
    assert one.text("#threshold-value") == "0.9999"
    lost = int(re.findall(r"(\d+) pieces? out of reach", one.text("#change"))[0])
    assert one.page.locator("#pieces .lost").count() == lost > 0


@pytest.mark.slow
def test_markup_is_text(browser: Any, site: Site) -> None:
    one = Open(browser, site)
    one.write("<img src=x onerror=document.title='gone'>")
    assert one.page.locator("main img").count() == 0
    assert one.page.title().startswith("Sieve")
    assert one.wrong == []


@pytest.mark.slow
def test_a_phone_and_the_dark(browser: Any, site: Site) -> None:
    size = {"width": 360, "height": 740}
    phone = Open(browser, site, viewport=size, is_mobile=True, has_touch=True)
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 360
    small = phone.page.eval_on_selector_all(
        "button, select, textarea",
        "all => all.filter((one) => one.offsetParent && one.offsetHeight < 24).length",
    )
    assert small == 0
    phone.page.locator("#words button").nth(1).tap()
    assert phone.text("#votes").startswith("“fga” brings in ")
    dark = Open(browser, site, color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert dark.page.evaluate(ground) != phone.page.evaluate(ground)


@pytest.mark.slow
def test_a_screen_reader_finds_names_and_news(browser: Any, site: Site) -> None:
    one = Open(browser, site)
    tree = one.page.locator("body").aria_snapshot()
    for expected in (
        'textbox "Text to translate"', 'combobox "From"', 'combobox "To"', "slider",
        'status "Translation"', 'toolbar "Source words"', 'button "Swap languages"',
    ):  # fmt: skip
        assert expected in tree, tree
    assert one.page.get_attribute("#threshold", "aria-valuetext") == "lambda 0.9"
    assert one.page.get_attribute("#output", "aria-live") == "polite"
    unnamed = one.page.get_by_role("button").filter(has_not_text=re.compile("."))
    assert unnamed.count() == 0
