"""The path of a GPU, run eagerly; its kernels in Triton's interpreter."""

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_lexicon import random_lexicon

from sieve.bundle.config import ModelConfig
from sieve.engines.options import SearchOptions
from sieve.engines.torch.captured_source import FIXED, bucket, choice_of, compact, mark_chosen
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.model.transformer import TranslationModel
from sieve.selection.fusion import Fusion, LexiconBonus
from sieve.selection.parsing import Resources, parse_selection
from sieve.selection.plan import Plan, Selector
from sieve.selection.safety import SafeTokens
from sieve.selection.selectors import (
    Adjusted,
    FrequentTokens,
    FullVocabulary,
    NeuralSelection,
    Union,
)
from sieve.tokenize.tokenizer_training import TokenizerOptions, train_tokenizers
from sieve.tokenize.vocabulary import EOS, IntArray

V = 700
TEXT = [f"the cat {n} says: no, {word}!" for n, word in enumerate(["ab", "sun", "b"])] * 20


def build(mixer: str) -> tuple[TorchEngine, TorchEngine]:
    """The reference, and the path of a GPU."""
    torch.manual_seed(1)
    config = ModelConfig(
        V, V, encoder_layers=1, decoder_layers=2, d_model=16, d_ff=32, heads=2, tie="none",
        decoder_mixer=mixer,  # type: ignore[arg-type]
    )  # fmt: skip
    model = TranslationModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_((0.4 if parameter.dim() > 1 else 0.1) * torch.randn_like(parameter))
        model.output.bias[EOS] += 2.0
    return TorchEngine(model), TorchEngine(model, graphs=True)


@dataclass(frozen=True)
class Copied:
    """The words of each sentence itself, as a safety set."""

    def plan(self) -> Plan:
        return Plan(lists=(lambda src_ids: [ids[ids > EOS] for ids in src_ids],))


AT_LEAST: list[Selector] = [
    NeuralSelection(0.9, 20),
    NeuralSelection(0.3, 300),
    NeuralSelection(1.0, 40),
    NeuralSelection(0.9, V + 9),
    Union((NeuralSelection(0.9), Copied())),
    Union((NeuralSelection(1.0, 1), Copied())),
    Union((NeuralSelection(0.9, 40), Copied(), FrequentTokens(tuple(range(100, 200))))),
    Adjusted(Union((NeuralSelection(0.9, 40), Copied())), include=(7, 400)),
]
"""Minima, and words that each sentence has whatever the head says."""


def sentences(number: int, seed: int = 0) -> list[IntArray]:
    rng = np.random.default_rng(seed)
    return [np.array([*rng.integers(4, V, rng.integers(1, 13)), EOS]) for _ in range(number)]


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
@pytest.mark.parametrize(
    "selection", [FullVocabulary(), NeuralSelection(0.9), NeuralSelection(0.3), *AT_LEAST], ids=str
)
@pytest.mark.parametrize("options", [SearchOptions(4, 2), SearchOptions(1)])
def test_same_as_the_reference(mixer: str, selection: Selector, options: SearchOptions) -> None:
    reference, bucketed = build(mixer)
    for seed, number in enumerate((1, 5, 3)):  # buffers are used again
        source = sentences(number, seed)
        expected = reference.translate(source, selection, options)
        found = bucketed.translate(source, selection, options)
        for one, other in zip(found, expected, strict=True):
            assert [h.tokens for h in one] == [h.tokens for h in other]
            assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-4)
            assert one[0].shortlist_size == other[0].shortlist_size


@pytest.mark.parametrize("selection", AT_LEAST, ids=str)
def test_shortlists_are_those_of_the_plan(selection: Selector) -> None:
    reference, bucketed = build("ssru")
    source, plan = sentences(5, 4), selection.plan()
    expected = plan.select(reference.encode(source))
    captured = bucketed.captured
    assert captured is not None
    choice = choice_of(plan, source, EOS)
    with bucketed.inference():
        encoding = captured.encode(source, choice)
    for row, shortlist in enumerate(expected):
        size = int(encoding.sizes[row])
        assert size == len(shortlist)
        room = encoding.words.shape[1]
        assert encoding.words[row, :size].tolist() == shortlist.ids[:room].tolist()


@pytest.mark.parametrize("threshold", [0.6, 0.9, 1.0])
def test_the_threshold_falls_for_long_sentences(threshold: float) -> None:
    reference, bucketed = build("ssru")
    selection, options = NeuralSelection(threshold, 9, fall=0.2), SearchOptions(2)
    rng = np.random.default_rng(8)
    source = [np.array([*rng.integers(4, V, length - 1), EOS]) for length in (40, 25, 31)]
    level = reference.translate(source, replace(selection, fall=0.0), options)
    for shuffled in (source, source[::-1], source[:1]):  # buffers are used again
        expected = reference.translate(shuffled, selection, options)
        found = bucketed.translate(shuffled, selection, options)
        for (one, *_), (other, *_) in zip(found, expected, strict=True):
            assert one.tokens == other.tokens
            assert one.shortlist_size == other.shortlist_size
        sizes = [best.shortlist_size for best, *_ in found]
        same = [best.shortlist_size for best, *_ in level]
        if shuffled is source and threshold < 1.0:
            assert sizes[0] > same[0] and sizes[1] == same[1] and sizes[2] > same[2]


def test_selections_in_turns_do_not_mix() -> None:
    """Each kind of choice has buffers of its own, and so must have the searches that read them."""
    reference, captured = build("ssru")
    options = SearchOptions(2)
    selections: list[Selector] = [*AT_LEAST[:6], NeuralSelection(0.9), *AT_LEAST[:6]]
    for seed, selection in enumerate(selections):
        source = sentences(5, seed)
        expected = reference.translate(source, selection, options)
        ranked = captured.translate(source, selection, options)
        assert [best.tokens for best, *_ in ranked] == [best.tokens for best, *_ in expected]
        assert [best.shortlist_size for best, *_ in ranked] == [
            best.shortlist_size for best, *_ in expected
        ]


def test_the_default_selection_of_shipped_models_is_captured() -> None:
    tokenizers = train_tokenizers(TokenizerOptions(vocab_size=362), TEXT, TEXT)
    resources = Resources(
        threshold=0.9, least=64, safe=True, safe_tokens=SafeTokens(tokenizers)
    )  # fmt: skip
    default = parse_selection(None, resources)
    assert str(default) == "nvs:0.9:64+safe"
    reference, bucketed = build("ssru")
    source = [np.array([*ids, EOS]) for ids in tokenizers.source.encode(["a cat, 7 ж", "b!"])]
    options, plan = SearchOptions(), default.plan()
    captured = bucketed.captured
    assert captured is not None
    assert captured.takes(source, plan, options)
    with bucketed.inference():
        found = captured.translate(source, plan, options)
    assert found is not None
    expected = reference.translate(source, default, options)
    assert [row[0].tokens for row in found] == [row[0].tokens for row in expected]
    assert [row[0].shortlist_size for row in found] == [row[0].shortlist_size for row in expected]


def test_what_is_not_captured() -> None:
    reference, bucketed = build("ssru")
    source, options = sentences(2), SearchOptions(2)
    captured = bucketed.captured
    assert captured is not None
    assert reference.captured is None
    head = NeuralSelection(0.9)
    assert captured.takes(source, head.plan(), options)
    evidence = LexiconBonus(random_lexicon(V), Fusion((6,), (3.0,)))
    fused = NeuralSelection(0.9, 5, evidence)
    for selection in (Adjusted(head, exclude=(9,)), Copied(), fused):
        assert not captured.takes(source, selection.plan(), options)
        found = bucketed.translate(source, selection, options)
        assert found == reference.translate(source, selection, options)
    assert not captured.takes(source, head.plan(), SearchOptions(2, alignment=True))


def test_more_fixed_words_than_there_is_room_for() -> None:
    _, bucketed = build("ssru")
    captured, most = bucketed.captured, FIXED[-1]
    assert captured is not None
    plan = Union((NeuralSelection(0.9), FrequentTokens(tuple(range(3, most + 4))))).plan()
    with bucketed.inference():
        assert captured.translate(sentences(1), plan, SearchOptions(1)) is None


def test_marks() -> None:
    logits = torch.tensor([[1.0, 3.0, 2.0, 3.0], [4.0, 0.0, 0.0, 0.0]])
    inf = torch.inf
    none, last = torch.zeros(2, 0, dtype=torch.int64), torch.tensor([[0], [3]])
    assert mark_chosen(logits, 0, none).tolist() == logits.tolist()
    assert mark_chosen(logits, 1, none).tolist() == [[1, inf, 2, inf], [inf, 0, 0, 0]]
    assert mark_chosen(logits, 2, last).tolist() == [[inf, inf, 2, inf], [inf] * 4]
    assert mark_chosen(logits, 9, none).tolist() == [[inf] * 4] * 2


@settings(deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=1, max_size=4))
def test_compaction(rows: list[list[bool]]) -> None:
    found = compact(torch.tensor(rows), 6)
    for row, flags in zip(found.tolist(), rows, strict=True):
        places = [place for place, flag in enumerate(flags) if flag][:6]
        assert row == places + [0] * (6 - len(places))


def test_buckets() -> None:
    assert [bucket((8, 16), size) for size in (1, 8, 9, 16, 17)] == [8, 8, 16, 16, 17]


@pytest.mark.parametrize("cases", ["last", pytest.param("all", marks=pytest.mark.slow)])
def test_kernels_in_tritons_interpreter(cases: str) -> None:
    pytest.importorskip("triton", reason="triton is not installed: its kernels cannot be checked")
    program = Path(__file__).parents[1] / "kernels" / ("check_beams_triton.py")
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, program, cases], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
