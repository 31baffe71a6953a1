"""The path of a GPU, run eagerly; its kernels in Triton's interpreter."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve.bundle.config import ModelConfig
from sieve.engines.options import SearchOptions
from sieve.engines.torch.encodings import bucket, compact
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.model.translation import TranslationModel
from sieve.selection.selectors import FullVocabulary, NeuralSelection, Selector
from sieve.tokenize.vocabulary import EOS, PAD, IntArray

V = 700


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


def sentences(number: int, seed: int = 0) -> list[IntArray]:
    rng = np.random.default_rng(seed)
    return [np.array([*rng.integers(4, V, rng.integers(1, 13)), EOS]) for _ in range(number)]


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
@pytest.mark.parametrize(
    "selection", [FullVocabulary(), NeuralSelection(0.9), NeuralSelection(0.3)]
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


@settings(deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=1, max_size=4))
def test_compaction(rows: list[list[bool]]) -> None:
    found = compact(torch.tensor(rows), 6)
    for row, flags in zip(found.tolist(), rows, strict=True):
        places = [place for place, flag in enumerate(flags) if flag][:6]
        assert row == places + [PAD] * (6 - len(places))


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
