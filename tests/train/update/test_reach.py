"""The reach loss: words that selection leaves out of a sentence keep no probability."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from sieve.config import with_overrides
from sieve.files import read_tensors
from sieve.tokenize.vocabulary import EOS, PAD
from sieve.train.session import train
from sieve.train.update.loss import (
    Reach,
    cross_entropy_and_reach,
    label_smoothed_cross_entropy,
    reachable_tokens,
)

SENTENCES = torch.tensor([0, 0, 1, 1, 1])
TARGETS = torch.tensor([4, EOS, 6, PAD, EOS])


@pytest.fixture
def logits() -> Tensor:
    generator = torch.Generator().manual_seed(5)
    return torch.randn(5, 9, dtype=torch.float64, generator=generator).requires_grad_()


@pytest.fixture
def words() -> Tensor:
    """Two sentences' words of nine: {EOS, 4, 7} and {EOS, 6}."""
    reachable = torch.zeros(2, 9, dtype=torch.bool)
    reachable[0, [EOS, 4, 7]] = True
    reachable[1, [EOS, 6]] = True
    return reachable


def naive(logits: Tensor, words: Tensor) -> Tensor:
    """−Σ log of the probability in reach, row by row."""
    total = logits.new_zeros(())
    for row, sentence, target in zip(logits, SENTENCES, TARGETS, strict=True):
        if target != PAD:
            total = total - torch.log(torch.softmax(row, -1)[words[sentence]].sum())
    return total


def test_by_hand() -> None:
    # Words PAD, BOS, EOS, UNK. Sentence 0 may use EOS and UNK: 1/8 + 1/8 of the first row is in
    # reach, its reach is ln 4. Sentence 1 may use BOS and EOS: 1/2 + 1/4 of the second, ln 4/3.
    rows = torch.log(torch.tensor([[0.5, 0.25, 0.125, 0.125], [0.125, 0.5, 0.25, 0.125]]))
    words = torch.tensor([[False, False, True, True], [False, True, True, False]])
    reachable = Reach(words, torch.tensor([0, 1]))
    loss, reach = cross_entropy_and_reach(rows, torch.tensor([3, EOS]), reachable, smoothing=0.0)
    assert loss.item() == pytest.approx(math.log(8) + math.log(4), rel=1e-6)
    assert reach.item() == pytest.approx(math.log(4) + math.log(4 / 3), rel=1e-6)


def test_reachable_tokens_are_selected_or_in_the_target() -> None:
    # σ(2.1) > 0.8 > σ(1); the target has word 5, sentence 1 is padded; PAD is never in reach
    bow_logits = torch.tensor([[3.0, -1, -1, -1, 2.1, -1], [3.0, -1, -1, 1, -1, 2.1]])
    bow_logits.requires_grad_()
    words = reachable_tokens(bow_logits, torch.tensor([[5, 5, EOS], [EOS, PAD, PAD]]), 0.8)
    assert [row.nonzero()[:, 0].tolist() for row in words] == [[EOS, 4, 5], [EOS, 5]]
    assert not words.requires_grad


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_equals_the_plain_losses_and_their_gradients(
    logits: Tensor, words: Tensor, smoothing: float
) -> None:
    loss, reach = cross_entropy_and_reach(logits, TARGETS, Reach(words, SENTENCES), smoothing)
    plain, expected = label_smoothed_cross_entropy(logits, TARGETS, smoothing), naive(logits, words)
    assert loss.item() == plain.item()
    assert reach.item() == pytest.approx(expected.item(), rel=1e-12)
    (ours,) = torch.autograd.grad(loss * 0.5 + reach * 3.0, logits)
    (theirs,) = torch.autograd.grad(plain * 0.5 + expected * 3.0, logits)
    assert torch.allclose(ours, theirs, atol=1e-12)
    assert not ours[TARGETS == PAD].any()


def test_gradient_check(logits: Tensor, words: Tensor) -> None:
    assert torch.autograd.gradcheck(
        lambda x: cross_entropy_and_reach(x, TARGETS, Reach(words, SENTENCES), 0.1), (logits,)
    )


def test_everything_in_reach_costs_nothing(logits: Tensor) -> None:
    everything = torch.ones(2, 9, dtype=torch.bool)
    _, reach = cross_entropy_and_reach(logits, TARGETS, Reach(everything, SENTENCES), 0.1)
    (gradient,) = torch.autograd.grad(reach, logits)
    assert reach.item() == 0.0
    assert not gradient.any()


def test_a_row_of_padding_does_not_count(logits: Tensor, words: Tensor) -> None:
    real = TARGETS != PAD
    some = cross_entropy_and_reach(logits[real], TARGETS[real], Reach(words, SENTENCES[real]), 0.1)
    every = cross_entropy_and_reach(logits, TARGETS, Reach(words, SENTENCES), 0.1)
    assert [loss.item() for loss in some] == pytest.approx([loss.item() for loss in every])


def test_sixteen_bits_stay_near(logits: Tensor, words: Tensor) -> None:
    low = logits.detach().bfloat16().requires_grad_()
    exact = low.detach().double().requires_grad_()
    gradients = []
    for x in (low, exact):
        loss, reach = cross_entropy_and_reach(x, TARGETS, Reach(words, SENTENCES), 0.0)
        (gradient,) = torch.autograd.grad(loss + reach, x)
        gradients.append(gradient)
        assert reach.item() == pytest.approx(naive(exact, words).item(), rel=1e-5)
    assert gradients[0].dtype == torch.bfloat16
    assert torch.allclose(gradients[0].double(), gradients[1], atol=0.01)


def test_a_run_lowers_it_and_goes_on_bit_for_bit(
    tmp_path: Path, toy_settings: dict[str, Any]
) -> None:
    given = with_overrides(
        toy_settings,
        ["training.reach_weight=2", "training.learning_rate=0.01", "training.max_updates=12"],
    )
    assert train(tmp_path / "whole", given) == 0
    assert train(tmp_path / "parts", with_overrides(given, ["training.max_updates=5"])) == 0
    assert train(tmp_path / "parts", given) == 0
    whole, parts = (reach_losses(tmp_path / name) for name in ("whole", "parts"))
    assert whole == parts
    assert 0 < whole[-1] < whole[0]
    files = [tmp_path / name / "model" / "model.safetensors" for name in ("whole", "parts")]
    one, other = map(read_tensors, files)
    assert all(one[name].tobytes() == other[name].tobytes() for name in one)


def test_without_a_weight_it_is_zero(tmp_path: Path, toy_settings: dict[str, Any]) -> None:
    assert train(tmp_path / "run", toy_settings) == 0
    assert set(reach_losses(tmp_path / "run")) == {0.0}


def reach_losses(run: Path) -> list[float]:
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [line["reach_loss"] for line in lines if line["kind"] == "train"]
