"""The translator with an engine and a tokenizer that need no model."""

import re
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sieve
from sieve.engines.engine import FloatArray, Hypothesis
from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError, InputError, ModelError
from sieve.repair.draft import Draft
from sieve.repair.glossary import Glossary
from sieve.repair.registry import Repairs, repairs_for
from sieve.repair.step import Line, Step
from sieve.selection.parsing import Resources
from sieve.selection.plan import Selector
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import EOS, OWN, IntArray, Specials
from sieve.translate.translation import Translation
from sieve.translate.translator import Translator


class Letters:
    """A tokenizer whose pieces are the letters a to z."""

    specials = OWN
    tags: frozenset[str] = frozenset()
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
        return ord(piece) - ord("a") + 4 if piece.isascii() and len(piece) == 1 else None

    def save(self, directory: Path, stem: str) -> dict[str, Any]:
        raise NotImplementedError


@dataclass
class Backwards:
    """An engine that turns sentences round, and remembers the batches it saw."""

    vocab_size: int = 30
    specials: Specials = OWN
    batches: list[list[int]] = field(default_factory=list)
    selections: list[str] = field(default_factory=list)
    options: list[SearchOptions] = field(default_factory=list)

    def encode(self, src_ids: Sequence[IntArray]) -> Any:
        raise NotImplementedError

    def bow_logits(self, encoded: Any) -> FloatArray:
        raise NotImplementedError

    def position_logits(self, encoded: Any) -> list[FloatArray]:
        raise NotImplementedError

    def decode(
        self,
        encoded: Any,
        shortlists: Sequence[Shortlist],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        raise NotImplementedError

    def translate(
        self,
        src_ids: Sequence[IntArray],
        selection: Selector,
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        assert all(ids[-1] == EOS for ids in src_ids)
        self.batches.append([len(ids) for ids in src_ids])
        self.selections.append(str(selection))
        self.options.append(options)
        forced = prefixes or [()] * len(src_ids)
        return [self._found(i, p, options) for i, p in zip(src_ids, forced, strict=True)]

    def _found(
        self, ids: IntArray, prefix: Sequence[int], options: SearchOptions
    ) -> list[Hypothesis]:
        tokens = (*prefix, *ids[-2::-1].tolist())
        places = tuple(range(len(ids) - 2, -1, -1)) if options.alignment else ()
        scores = (-0.5,) * (len(tokens) + 1)
        return [Hypothesis(tokens, scores, 7, places) for _ in range(options.n_best)]

    def score(
        self, src_ids: Sequence[IntArray], tgt_ids: Sequence[Sequence[int]], selection: Selector
    ) -> list[Hypothesis]:
        return [Hypothesis(tuple(ids), (-0.25,) * (len(ids) + 1), 9) for ids in tgt_ids]


def make(**limits: Any) -> tuple[Translator, Backwards]:
    engine, letters = Backwards(), Letters()
    resources = Resources(threshold=0.9)
    return Translator(engine, Tokenizers(letters, letters), resources, **limits), engine


def test_one_text() -> None:
    translator, _ = make()
    assert translator.translate("abc") == Translation(
        "cba", -2.0, 7, 30, ("c", "b", "a"), (-0.5, -0.5, -0.5, -0.5), -0.5, ids=(6, 5, 4)
    )


def test_order_is_kept_and_empty_lines_stay_empty() -> None:
    translator, engine = make(batch_tokens=12)
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


def test_beam_n_best_and_prefix() -> None:
    translator, engine = make()
    found = translator.translate("abc", options=SearchOptions(4, 3), prefix="xy")
    assert found.text == "xycba"
    assert [one.text for one in found.n_best] == ["xycba"] * 3
    translator.translate("abc", beam_size=2)
    assert engine.options[-1] == SearchOptions(beam_size=2)
    with pytest.raises(InputError, match="got 1 prefixes for 2 texts"):
        translator.translate(["a", "b"], prefix=["x"])
    many = translator.translate(["ab", "cd"], prefix=["x", ""])
    assert [one.text for one in many] == ["xba", "dc"]


def test_long_lines_are_split_and_joined() -> None:
    translator, engine = make(max_tokens=5)
    found = translator.translate("abc def ghi", options=SearchOptions(alignment=True))
    assert found.text == "cba fed ihg"
    assert found.score == -6.0
    assert found.positions == (2, 1, 0, 5, 4, 3, 8, 7, 6)
    assert translator.translate(["a" * 23, "b"])[0].text.replace(" ", "") == "a" * 23
    assert max(max(batch) for batch in engine.batches) <= 6


def test_line_ends_stay() -> None:
    translator, _ = make(max_tokens=5)
    found = translator.translate("\n abc\r\n12\n\ndef ghi\n", options=SearchOptions(alignment=True))
    assert found.text == "\n cba\r\n12\n\nfed ihg\n"
    assert found.positions == (2, 1, 0, 5, 4, 3, 8, 7, 6)
    assert [translator.translate(text).text for text in ("12\n", "\n", "a\n")] == [
        "12\n",
        "\n",
        "a\n",
    ]
    (begun, other) = translator.translate(["ab\ncd", "ef"], prefix=["x", ""])
    assert (begun.text, other.text) == ("xba\ndc", "fe")
    best = translator.translate("ab\ncd", options=SearchOptions(n_best=2))
    assert [each.text for each in best.n_best] == ["ba\ndc"] * 2


def test_a_closed_translator_says_so() -> None:
    translator, _ = make()
    with translator as opened:
        variant = replace(opened, max_tokens=3)
        assert opened.translate("ab").text == "ba"
    with pytest.raises(ConfigError) as caught:
        translator.translate("ab")
    assert str(caught.value) == "this translator is closed; open the model again with sieve.load"
    assert variant.translate("ab").text == "ba"


def test_scores() -> None:
    translator, _ = make()
    one, other = translator.score(["ab", ""], ["xyz", ""])
    assert one.score == -1.0
    assert one.pieces == ("x", "y", "z")
    assert other.token_scores == (-0.25,)
    with pytest.raises(InputError, match="got 2 source and 1 target lines"):
        translator.score(["a", "b"], ["c"])


def test_included_and_excluded_words() -> None:
    translator, engine = make()
    translator.translate("abc", include=["xyz"], exclude=["ba"])
    assert engine.selections == ["nvs:0.9 (3 added, 0 excluded)"]
    (blocked,) = engine.options[-1].blocked
    assert blocked.tokens == (5, 4)


def test_errors(tmp_path: Path) -> None:
    translator, _ = make()
    with pytest.raises(ConfigError, match=r"got threshold 0.5 and selection 'none', expected one"):
        translator.translate("a", selection="none", threshold=0.5)
    with pytest.raises(ConfigError, match=r"got '1.0', expected a threshold from"):
        translator.translate("a", threshold=1.0)
    with pytest.raises(ConfigError, match="max_length_factor: got -1, expected a number above 0"):
        SearchOptions(max_length_factor=-1)
    with pytest.raises(ModelError, match="nowhere: no such model directory"):
        sieve.load(tmp_path / "nowhere")
    with pytest.raises(AttributeError, match="module 'sieve' has no attribute 'lode'"):
        sieve.lode  # noqa: B018


def test_public_names() -> None:
    assert all(hasattr(sieve, name) for name in sieve.__all__)
    assert np.array_equal(sieve.__all__, sorted(sieve.__all__))


class Doubled(Step):
    """A repair that writes every x twice."""

    def after(self, line: Line, draft: Draft, state: None) -> Draft:
        return draft.substituted(re.compile("x"), lambda _: "xx", "doubled")


@pytest.mark.parametrize("gap", [" ", "\n", "\n\n  "])
def test_edits_of_a_text_lead_from_the_model_s_text_to_the_final_one(gap: str) -> None:
    letters = Letters()
    translator = Translator(
        Backwards(),
        Tokenizers(letters, letters),
        Resources(threshold=0.9),
        repairs=Repairs((Doubled(),)),
        max_tokens=5,
    )
    line = gap.join(("abx", "dxf", "xhx"))
    repaired = translator.translate(line)
    assert repaired.text == gap.join(("xxba", "fxxd", "xxhxx"))
    own = translator.translate(line, repair=False)
    assert (own.text, own.edits) == (gap.join(("xba", "fxd", "xhx")), ())
    assert letters.decode([own.ids]) == ["xbafxdxhx"] == letters.decode([repaired.ids])
    text = own.text
    for edit in repaired.edits:
        text = text[: edit.start] + edit.text + text[edit.end :]
    assert text == repaired.text
    assert {edit.step for edit in repaired.edits} == {"doubled"}


def test_a_line_that_no_model_read_has_its_text_as_an_edit() -> None:
    letters = Letters()
    tokenizers = Tokenizers(letters, letters)
    repairs = repairs_for(("en", "xx"), tokenizers)
    translator = Translator(Backwards(), tokenizers, Resources(threshold=0.9), repairs=repairs)
    kept = translator.translate("12:30")
    assert (kept.text, kept.ids) == ("12:30", ())
    assert [(edit.start, edit.end, edit.text) for edit in kept.edits] == [(0, 0, "12:30")]


def test_a_translator_stays_as_it_is() -> None:
    translator, _ = make()
    with pytest.raises(FrozenInstanceError):
        translator.languages = ("en", "de")  # type: ignore[misc]


def test_wishes_of_a_request() -> None:
    translator, engine = make()
    translator.translate("abc", lossless=True)
    assert engine.options[-1] == SearchOptions(lossless=True)
    translator.translate("abc", options=SearchOptions(2, lossless=True), beam_size=3)
    assert engine.options[-1] == SearchOptions(3, lossless=True)
    glossary = Glossary((("ab", "xyz"),))
    translator.translate(["ab cd", "cd"], glossary=glossary)
    assert engine.selections[-2:] == ["nvs:0.9 (3 added, 0 excluded)", "nvs:0.9"]
    with pytest.raises(InputError, match="cannot be given together with a glossary"):
        translator.translate("ab", glossary=glossary, prefix="x")
