"""Files of this repository that README and docs/ name are there."""

import re
from pathlib import Path

import pytest
from blocks import PAGES, ROOT

NAMED = re.compile(r"(?<![\w/.*-])(?:src|docs|recipes|tests|benchmarks|native)/[\w./*-]*\w")
TODAYS = [page for page in PAGES if page.name != "results.md"]
"""All but the page that says how each number was made at its time."""


@pytest.mark.parametrize("page", TODAYS, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    names = set(NAMED.findall(page.read_text("utf-8")))
    assert [name for name in sorted(names) if not list(ROOT.glob(name))] == []
