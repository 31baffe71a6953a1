"""The translator with an engine and a tokenizer that need no model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sieve
from sieve.errors import ConfigError, ModelError
from sieve.inference import translator as translator_module
from sieve.inference.engine import FloatArray, Hypothesis, SearchOptions
from sieve.inference.translator import Translation, Translator
from sieve.selection.selectors import Resources, Selector
from sieve.selection.shortlist import Shortlist
from sieve.text.tokenizer import Tokenizers
from sieve.text.vocabulary import EOS, IntArray


class Letters:
    """A tokenizer whose pieces are the letters a to z."""

    vocab_size = 30
    fingerprint = "letters"

    def normalize(self, text: str) -> str:
        return text

    def encode(self, lines: Sequence[str]) -> list[list[int]]:
        return [[ord(c) - ord("a") + 4 for c in line.replace(" ", "")] for line in lines]

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        return ["".join(map(self.piece, ids)) for ids in sentences]

    def piece(self, index: int) -> str:
        return chr(index - 4 + ord("a"))

    def piece_id(self, piece: str) -> int | None:
        return ord(piece) - ord("a") + 4

    def save(self, directory: Path, stem: str) -> dict[str, Any]:
        raise NotImplementedError


@dataclass
class Backwards:
    """An engine that turns sentences round, and remembers the batches it saw."""

    vocab_size: int = 30
    batches: list[list[int]] = field(default_factory=list)
    selections: list[str] = field(default_factory=list)

    def encode(self, src_ids: Sequence[IntArray]) -> Any:
        raise NotImplementedError

    def bow_logits(self, encoded: Any) -> FloatArray:
        raise NotImplementedError

    def decode(
        self, encoded: Any, shortlists: Sequence[Shortlist], options: SearchOptions
    ) -> list[list[Hypothesis]]:
        raise NotImplementedError

    def translate(
        self, src_ids: Sequence[IntArray], selection: Selector, options: SearchOptions
    ) -> list[list[Hypothesis]]:
        assert all(ids[-1] == EOS for ids in src_ids)
        self.batches.append([len(ids) for ids in src_ids])
        self.selections.append(str(selection))
        return [[Hypothesis(tuple(ids[-2::-1].tolist()), (-0.5,) * len(ids), 7)] for ids in src_ids]


def make() -> tuple[Translator, Backwards]:
    engine, letters = Backwards(), Letters()
    return Translator(engine, Tokenizers(letters, letters), Resources(threshold=0.9)), engine


def test_one_text() -> None:
    translator, _ = make()
    assert translator.translate("abc") == Translation(
        "cba", -2.0, 7, 30, ("c", "b", "a"), (-0.5, -0.5, -0.5, -0.5)
    )


def test_order_is_kept_and_empty_lines_stay_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translator_module, "BATCH_TOKENS", 12)
    translator, engine = make()
    lines = ["abcdefg", "", "ab", "abc", "  ", "b", "abcde"]
    found = translator.translate(lines)
    assert [t.text for t in found] == ["gfedcba", "", "ba", "cba", "", "b", "edcba"]
    assert [t.shortlist_size for t in found] == [7, 0, 7, 7, 0, 7, 7]
    assert engine.batches == [[2, 3, 4], [6], [8]]  # sorted; padded to at most 12 tokens
    assert translator.translate([]) == []
    assert translator.translate("").text == ""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "nvs:0.9"),
        ({"threshold": 0.5}, "nvs:0.5"),
        ({"selection": "none"}, "none"),
        ({"selection": "nvs:0.25"}, "nvs:0.25"),
    ],
)
def test_selection(arguments: dict[str, Any], expected: str) -> None:
    translator, engine = make()
    translator.translate("abc", **arguments)
    assert engine.selections == [expected]


def test_errors(tmp_path: Path) -> None:
    translator, _ = make()
    with pytest.raises(ConfigError, match=r"got threshold 0.5 and selection 'none', expected one"):
        translator.translate("a", selection="none", threshold=0.5)
    with pytest.raises(ConfigError, match="max_length_factor: got -1, expected a number above 0"):
        SearchOptions(max_length_factor=-1)
    with pytest.raises(ModelError, match="nowhere: no such model directory"):
        sieve.load(tmp_path / "nowhere")
    with pytest.raises(AttributeError, match="module 'sieve' has no attribute 'lode'"):
        sieve.lode  # type: ignore[attr-defined]  # noqa: B018


def test_public_names() -> None:
    assert all(hasattr(sieve, name) for name in sieve.__all__)
    assert np.array_equal(sieve.__all__, sorted(sieve.__all__))
