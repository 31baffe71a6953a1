"""The set of idioms: enough, each rendered in its translation, adaptation and test apart."""

import importlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sieve.evaluate.measure.idioms import IdiomSet, read_idioms

FOLDER = Path(__file__).parents[2] / "recipes" / "idioms"
SMALL_WORDS = {"haben", "sein", "machen", "zeigen", "jemandem", "jemanden", "jemandes", "estar"}


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("split")
    sys.modules.pop("split", None)


@pytest.mark.parametrize("language", ["de", "pt"])
def test_three_sentences_an_idiom_and_none_twice(split: Any, language: str) -> None:
    sentences = list(split.read(language))
    counts = Counter((one.idiom, one.part) for one in sentences)
    idioms = {idiom for idiom, _ in counts}
    assert len(idioms) >= 150
    assert all(counts[idiom, "adapt"] == 2 and counts[idiom, "test"] == 1 for idiom in idioms)
    for side in ("source", "reference"):
        texts = [split.plain(getattr(one, side)) for one in sentences]
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("language", ["de", "pt"])
def test_the_rendering_is_in_the_reference(split: Any, language: str) -> None:
    """By the beginnings of its words, since they are inflected."""
    missing = []
    for one in split.read(language):
        rendering = split.marked(one.reference).lower()
        assert split.marked(one.source)
        assert rendering
        words = {word for word in re.findall(r"\w+", one.rendering.lower()) if len(word) > 3}
        words -= SMALL_WORDS
        if words and not any(word[:4] in rendering for word in words):
            missing.append((one.rendering, rendering))
    irregular = {"jemanden auf den arm nehmen", "pifar", "torcer"}  # nimmst, pifou, torça
    assert {name.lower() for name, _ in missing} <= irregular


def test_verbs_read_what_is_written(split: Any, tmp_path: Path) -> None:
    split.write("de", tmp_path, unseen=2)
    lines = {name: (tmp_path / name).read_text().splitlines() for name in ("adapt.en", "adapt.de")}
    assert len(lines["adapt.en"]) == len(lines["adapt.de"])
    test, unseen = (
        read_idioms(str(tmp_path / f"{name}.tsv"), ("en", "de")) for name in ("test", "unseen")
    )
    assert isinstance(test, IdiomSet)
    assert isinstance(unseen, IdiomSet)
    assert len(test.idioms) + len(unseen.idioms) // 3 == len({o.idiom for o in split.read("de")})
    assert not {*lines["adapt.en"]} & {*test.pairs.sources, *unseen.pairs.sources}
    every = "\n".join((*test.pairs.references, *unseen.pairs.references))
    assert "[" not in every
    assert "Wenn du morgen den Löffel abgibst, wer erbt dann das Boot?" in every
