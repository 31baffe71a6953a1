"""As many translations as lines, whatever they hold, and memory that does not grow with them."""

import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from directories import write_model
from hypothesis import given, settings
from hypothesis import strategies as st

import sieve
from sieve.engines.options import SearchOptions
from sieve.translate.raw_lines import as_line
from sieve.translate.translator import Translator

QUICK = SearchOptions(beam_size=1, max_length_factor=0.5)
ODD = [
    "",
    " ",
    "\t",
    "\u2028",
    "\x85",
    "\x0b",
    "\x0c",
    "\x1c",
    "\r",
    "\u3000",
    "\ufeff",
    "\x00",
    "\ud800",
]
lines = st.lists(
    st.one_of(
        st.sampled_from(ODD), st.text(max_size=30), st.sampled_from(["bda fga", "kla. Ste!"])
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def translator(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Translator]:
    directory = tmp_path_factory.mktemp("lines") / "xx-yy"
    write_model(directory, toy_data.corpus, int8=True)
    yield sieve.load(directory, threads=1)


@settings(max_examples=60)
@given(lines)
def test_lines_in_are_lines_out(translator: Translator, texts: list[str]) -> None:
    translations = translator.translate(texts, options=QUICK)
    assert len(translations) == len(texts)
    written = b"".join(as_line(translation.text) for translation in translations)
    assert written.count(b"\n") == len(texts)
    for text, translation in zip(texts, translations, strict=True):
        assert bool(translation.pieces) <= bool(text.strip())


@settings(max_examples=40)
@given(lines)
def test_a_line_is_translated_as_if_it_were_alone(translator: Translator, texts: list[str]) -> None:
    together = translator.translate(texts, options=QUICK)
    threads = replace(translator, batch_tokens=7)
    for text, translation in zip(texts, together, strict=True):
        assert translator.translate(text, options=QUICK) == translation
    assert threads.translate(texts, options=QUICK) == together


def test_memory_does_not_grow_with_the_lines(translator: Translator, tmp_path: Path) -> None:
    """B = program + model + a part for each thread: nothing of it depends on how much is done."""
    batch = ["bda fga kla ste " * 8] * 64
    translator.translate(batch, options=QUICK)
    gc.collect()
    process = psutil.Process()
    before = process.memory_info().rss
    for _ in range(30):
        translator.translate(batch, options=QUICK)
    gc.collect()
    assert process.memory_info().rss - before < 4 * 2**20
