"""Fused pieces of inference against the layers they stand for."""

# private: the encoder without the choice of kernels

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from sieve.bundle.config import Mixer, ModelConfig
from sieve.engines.torch import few_rows, fused
from sieve.engines.torch import source_encoding as encoding
from sieve.engines.torch.stepping import DecoderSteps
from sieve.model.layers import SSRU
from sieve.model.transformer import TranslationModel
from sieve.tokenize.vocabulary import BOS, EOS, PAD
from sieve.train.config import TrainingConfig
from sieve.train.update.optimizer import Optimizer

SRC = torch.tensor([[5, 6, 7, EOS], [8, EOS, PAD, PAD]])
TGT = torch.tensor([[BOS, 9, 10, 11], [BOS, 12, 13, 14]])


def build(mixer: Mixer) -> TranslationModel:
    torch.manual_seed(0)
    config = ModelConfig(
        40, 40, encoder_layers=2, decoder_layers=2, d_model=16, d_ff=32, heads=2,
        decoder_mixer=mixer,
    )  # fmt: skip
    model = TranslationModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
@pytest.mark.parametrize("visible", ["known", "all"])
@torch.inference_mode()
def test_steps_with_shared_keys_equal_the_teacher_forced_pass(mixer: Mixer, visible: str) -> None:
    """Two hypotheses a sentence, the second one always another token."""
    model = build(mixer)
    memory, mask = model.encode(SRC)
    other = (TGT + 5).clamp(max=39)
    other[:, 0] = BOS
    steps = DecoderSteps(model, 2, 2, 4, 8)
    for _ in range(2):  # loading starts anew
        steps.load(memory, mask)
        both = torch.stack((TGT, other), dim=1).view(4, -1)  # (N, U)
        for place in range(TGT.shape[1]):
            size = place + 1 if visible == "known" else 8
            states = steps.step(both[:, place], size)
            rows = torch.arange(4)
            steps.settle(rows, size)
            steps.position += 1
            for index, tokens in enumerate((TGT, other)):
                expected = model(SRC, tokens).states[:, place]
                torch.testing.assert_close(states[index::2], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
@torch.inference_mode()
def test_settled_rows_follow(mixer: Mixer) -> None:
    model = build(mixer)
    steps = DecoderSteps(model, 2, 2, 4, 8)
    steps.load(*model.encode(SRC))
    steps.step(torch.full((4,), BOS), 1)
    steps.settle(torch.tensor([0, 0, 2, 2]), 1)
    steps.position += 1
    steps.step(torch.tensor([9, 30, 12, 31]), 2)
    steps.settle(torch.tensor([1, 0, 2, 2]), 2)  # the first sentence's beams change places
    steps.position += 1
    states = steps.step(torch.tensor([33, 10, 13, 13]), 3)
    expected = model(SRC, TGT).states[:, 2]
    torch.testing.assert_close(states[1], expected[0], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(states[2], expected[1], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(states[3], states[2])
    steps.settle(torch.arange(4), 3)
    steps.position += 1
    alone = steps.select([1])
    both = steps.step(torch.tensor([5, 6, 14, 7]), 4)
    torch.testing.assert_close(alone.step(torch.tensor([14, 7]), 4), both[2:])


@torch.inference_mode()
def test_encoder_with_fused_norms() -> None:
    model = build("ssru")
    memory, mask = model.encode(SRC)
    additive = torch.zeros(2, 4).masked_fill(~mask, float("-inf"))[:, None, None]
    found = encoding._encoder(model.encoder, model.embed_source(SRC), additive)
    torch.testing.assert_close(found[mask], memory[mask], rtol=1e-5, atol=1e-5)


INTERPRETED = """
import torch
from sieve.engines.torch import source_encoding as encoding, fused
from sieve.kernels import fused_triton
from sieve.kernels.buffers import Cells
from sieve.model.layers import SSRU, CrossAttention, SelfAttention
torch.manual_seed(0)
N, D = 6, 40
x, y, past = torch.randn(N, D), torch.randn(N, D), torch.randn(2, 3, N, D)
norm, mixer = torch.nn.LayerNorm(D), SSRU(D)
for p in norm.parameters():
    torch.nn.init.normal_(p)
with torch.no_grad():
    found = fused_triton.add_norm(x, y, norm.weight, norm.bias, norm.eps)
    for one, other in zip(found, fused.add_norm(x, y, norm)):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    parents = torch.tensor([2, 2, 0, 1, 5, 4])
    gates = torch.nn.functional.linear(y, *fused.fused_gates(mixer))
    for at in range(2):
        cells = [Cells(p[:, 1], torch.tensor([at]), parents) for p in (past, past.clone())]
        found = fused_triton.ssru_add_norm(gates, x, cells[0], norm)
        for one, other in zip(found, fused.ssru_add_norm(mixer, x, y, cells[1], norm)):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(cells[0].halves, cells[1].halves, rtol=1e-5, atol=1e-5)
    ids, table, positions = torch.tensor([3, 1, 3, 0]), torch.randn(5, D), torch.randn(7, D)
    at = torch.tensor([4])
    found = fused_triton.embed_norm(ids, table, positions, at, norm)
    for one, other in zip(found, fused.embed_norm(ids, table, positions, at, norm)):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    B, K, H, T, d = 2, 3, 2, 21, 16
    cross = CrossAttention(H * d, H)
    q, memory = torch.randn(B, K, H * d), torch.randn(B, T, H * d)
    mask = torch.zeros(B, 1, 1, T)
    mask[1, :, :, 9:] = float("-inf")
    keys_values = cross.keys_values(memory)
    one = cross.out(fused_triton.attend(cross.query(q), keys_values, mask))
    torch.testing.assert_close(one, cross(q, keys_values, mask), rtol=1e-5, atol=1e-5)
    attention, T = SelfAttention(H * d, H), 35  # two blocks of queries
    x, mask = torch.randn(B, T, H * d), torch.zeros(B, 1, 1, T)
    mask[1, :, :, 9:] = float("-inf")
    one = attention.out(fused_triton.self_attend(attention.qkv(x), mask, H))
    other = encoding._attention(attention, x, mask)
    torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
"""


def test_kernels_in_tritons_interpreter() -> None:
    pytest.importorskip("triton", reason="triton is not installed: its kernels cannot be checked")
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", INTERPRETED], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_few_rows_in_tritons_interpreter() -> None:
    pytest.importorskip("triton", reason="triton is not installed: its kernels cannot be checked")
    program = Path(__file__).parents[1] / "kernels" / ("check_few_rows.py")
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_weights_that_changed_are_fused_again() -> None:
    mixer = SSRU(8)
    norm = torch.nn.LayerNorm(8)
    before, _ = fused.fused_gates(mixer)
    folded = few_rows.fold(mixer, fused.fused_gates(mixer), norm)
    assert fused.fused_gates(mixer)[0] is before
    assert few_rows.fold(mixer, fused.fused_gates(mixer), norm) is folded
    with torch.no_grad():
        mixer.value.weight.add_(1.0)
    after, _ = fused.fused_gates(mixer)
    assert torch.equal(after[8:], before[8:] + 1.0)
    with torch.no_grad():
        norm.weight.mul_(2.0)
    again = few_rows.fold(mixer, fused.fused_gates(mixer), norm)
    assert torch.equal(again.weight, 2.0 * after)


def test_what_the_optimizer_changed_is_fused_again() -> None:
    model = build("ssru")
    mixer = model.decoder.layers[0].get_submodule("mixer")
    assert isinstance(mixer, SSRU)
    before, _ = fused.fused_gates(mixer)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    Optimizer(model, TrainingConfig()).step(0.1)
    after, _ = fused.fused_gates(mixer)
    assert torch.equal(after[16:], mixer.value.weight) and not torch.equal(after, before)
