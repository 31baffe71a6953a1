"""The loss over a sample of the tokens against the loss over all of them."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from sieve.bundle.config import ModelConfig
from sieve.model.nvs import build_head
from sieve.train.attach.labels import Labels, padded_states
from sieve.train.attach.quick_products import quicker_precision
from sieve.train.attach.sampled_loss import SampledLoss, Sampler
from sieve.train.update.loss import PositiveWeight

V, D = 50, 8
CONFIG = ModelConfig(src_vocab_size=V, tgt_vocab_size=V, d_model=D, heads=2, nvs_head="tied")


def labels() -> Labels:
    """Three sentences of 2, 3 and 1 positions."""
    states = np.random.default_rng(1).normal(size=(6, D)).astype(np.float16)
    return Labels(np.array([0, 2, 5, 6]), states, np.array([0, 2, 3, 5]), np.array([7, 9, 7, 3, 3]))


@pytest.mark.parametrize("weight", ["10", "auto:2"])
@pytest.mark.parametrize("kind", ["tied", "full"])
def test_a_sample_of_all_tokens_gives_the_papers_loss(kind: str, weight: str) -> None:
    """Expected: for each sentence Σ over tokens / (V + (λ_p − 1) n_p), the mean of these, ·100.

    With auto:2, λ_p is 2 · (50 − 2) / 2 for the first sentence and 2 · (50 − 1) / 1 for the others.
    """
    head = build_head(ModelConfig(**{**vars(CONFIG), "nvs_head": kind}))
    assert head is not None
    generator = torch.Generator().manual_seed(2)
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, generator=generator)
    embedding = torch.randn(V, D, generator=generator)
    sampler = Sampler(np.full(V, 1 / V), 20_000)  # all are drawn, some 400 times each
    loss_of = SampledLoss(embedding, sampler, PositiveWeight.parse(weight))
    loss = loss_of(head, labels(), np.arange(3), generator).item()
    z = head(*padded_states(labels(), [0, 1, 2]), embedding)
    wanted = torch.zeros(3, V)
    wanted[0, [7, 9]] = wanted[1, 7] = wanted[2, 3] = 1
    p = torch.tensor([48.0, 98.0, 98.0] if weight == "auto:2" else [10.0] * 3)
    cost = p[:, None] * wanted * F.softplus(-z) + (1 - wanted) * F.softplus(z)
    expected = (cost.sum(1) / (V + (p - 1) * wanted.sum(1))).mean().item() * 100
    assert loss == pytest.approx(expected, rel=0.03)


def test_drawn_tokens_stand_for_all_others() -> None:
    """Their weighted mean over many draws is the plain sum, however unevenly they are drawn."""
    frequencies = torch.arange(V) ** 2
    sampler = Sampler.by_frequency(frequencies, 30)
    generator = torch.Generator().manual_seed(4)
    values, without = np.random.default_rng(5).random(V), np.array([3, 49])
    sums = []
    for _ in range(2000):
        tokens, counts = sampler.draw(without, generator)
        assert not np.isin(without, tokens).any()
        sums.append((values[tokens] * counts).sum())
    expected = values.sum() - values[without].sum()
    assert np.mean(sums) == pytest.approx(expected, rel=0.02)
    assert sampler.chances[49] > 2 * sampler.chances[0]


def test_a_precision_is_chosen() -> None:
    assert quicker_precision(torch.device("cpu")) in (torch.float32, torch.bfloat16)
