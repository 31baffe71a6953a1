"""Losses against numbers worked out by hand, and against torch's own."""

# private: both forms, one of which only a GPU takes

import math

import pytest
import torch
from torch.nn import functional as F

from sieve.errors import ConfigError
from sieve.tokenize.vocabulary import EOS, PAD
from sieve.train.update.loss import (
    PositiveWeight,
    _row_gradients,
    _row_gradients_pointwise,
    guided_alignment_loss,
    label_smoothed_cross_entropy,
    nvs_loss,
)

LN2, LN4 = math.log(2.0), math.log(4.0)


def logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def test_cross_entropy_by_hand() -> None:
    # p = (1/2, 1/4, 1/8, 1/8); target 2, ε = 0.1:
    # 0.9·ln 8 + 0.1/4·(ln 2 + ln 4 + ln 8 + ln 8) = (2.7 + 0.025·9)·ln 2
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.125, 0.125]]))
    loss = label_smoothed_cross_entropy(logits, torch.tensor([2]), 0.1)
    assert loss.item() == pytest.approx(2.925 * LN2, rel=1e-6)
    plain = label_smoothed_cross_entropy(logits, torch.tensor([2]), 0.0)
    assert plain.item() == pytest.approx(3 * LN2, rel=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_equals_torch_and_skips_padding(smoothing: float) -> None:
    torch.manual_seed(0)
    logits = torch.randn(3, 5, 11, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(1, 11, (3, 5))
    targets[0, 3:] = PAD
    ours = label_smoothed_cross_entropy(logits, targets, smoothing)
    theirs = F.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        label_smoothing=smoothing,
        ignore_index=PAD,
        reduction="sum",
    )
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-12)
    (ours_gradient,) = torch.autograd.grad(ours * 3.0, logits)
    (theirs_gradient,) = torch.autograd.grad(theirs * 3.0, logits)
    assert torch.allclose(ours_gradient, theirs_gradient, atol=1e-12)
    assert not ours_gradient[0, 3:].any()


def test_cross_entropy_gradient_check() -> None:
    torch.manual_seed(1)
    logits = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([3, 1, PAD, 5])
    assert torch.autograd.gradcheck(
        lambda x: label_smoothed_cross_entropy(x, targets, 0.1), (logits,)
    )


def test_both_forms_of_the_gradient_agree() -> None:
    torch.manual_seed(4)
    logits, targets = torch.randn(6, 9), torch.tensor([1, 2, PAD, 8, 4, 4])
    normalizer, upstream = logits.logsumexp(-1), torch.tensor(0.25)
    for smoothing in (0.0, 0.1):
        arguments = (logits, targets, normalizer, upstream, smoothing)
        assert torch.allclose(_row_gradients(*arguments), _row_gradients_pointwise(*arguments))


def test_nvs_loss_by_hand() -> None:
    # Four words PAD, BOS, EOS, UNK; z = (1/4, 1/2, 3/4, 1/2); the target is UNK twice and EOS:
    # positives {EOS, UNK}, n_p = 2. λ_p = 10: Z = 4 + 9·2 = 22.
    # L = [10·(−ln ¾ − ln ½) − ln ¾ − ln ½] / 22 = 11·(ln(4/3) + ln 2) / 22
    z = [0.25, 0.5, 0.75, 0.5]
    logits = torch.tensor([[logit(p) for p in z]], dtype=torch.float64)
    target = torch.tensor([[3, 3, EOS, PAD, PAD]])
    loss = nvs_loss(logits, target, PositiveWeight(10.0))
    assert loss.item() == pytest.approx((math.log(4 / 3) + LN2) / 2, rel=1e-9)


def test_nvs_loss_auto_by_hand() -> None:
    # One positive, EOS, of four words: λ_p = x·3/1 with x = 2 is 6, Z = 4 + 5·1 = 9.
    z = [0.5, 0.5, 0.25, 0.5]
    logits = torch.tensor([[logit(p) for p in z]], dtype=torch.float64)
    loss = nvs_loss(logits, torch.tensor([[EOS, PAD]]), PositiveWeight.parse("auto:2"))
    assert loss.item() == pytest.approx((6 * LN4 + 3 * LN2) / 9, rel=1e-9)


def test_nvs_loss_is_a_sum_over_sentences_each_with_its_own_normalizer() -> None:
    torch.manual_seed(2)
    logits = torch.randn(3, 9, dtype=torch.float64)
    targets = torch.tensor([[4, 5, 6, EOS], [7, EOS, PAD, PAD], [8, 8, 8, EOS]])
    for weight in (PositiveWeight(1e5), PositiveWeight(1.0, auto=True)):
        together = nvs_loss(logits, targets, weight)
        apart = sum(
            nvs_loss(logits[i : i + 1], targets[i : i + 1], weight).item() for i in range(3)
        )
        assert together.item() == pytest.approx(apart, rel=1e-12)
        wider = F.pad(targets, (0, 5), value=PAD)
        assert nvs_loss(logits, wider, weight).item() == together.item()


def test_nvs_loss_equals_naive_formula_and_gradient() -> None:
    torch.manual_seed(3)
    logits = torch.randn(2, 8, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([[4, 5, 4, EOS], [6, EOS, PAD, PAD]])
    expected = 0.0
    for row, positives in enumerate([{4, 5, EOS}, {6, EOS}]):
        z = torch.sigmoid(logits[row]).tolist()
        total = sum(
            1000.0 * math.log(z[i]) if i in positives else math.log(1 - z[i]) for i in range(8)
        )
        expected -= total / (8 + 999.0 * len(positives))
    weight = PositiveWeight(1000.0)
    assert nvs_loss(logits, targets, weight).item() == pytest.approx(expected, rel=1e-9)
    assert torch.autograd.gradcheck(lambda x: nvs_loss(x, targets, weight), (logits,))


def test_extreme_logits_stay_finite() -> None:
    logits = torch.tensor([[-200.0, 200.0, -200.0, 200.0, 30.0]], requires_grad=True)
    loss = nvs_loss(logits, torch.tensor([[EOS, PAD]]), PositiveWeight(1e5))
    torch.autograd.backward(loss)
    assert math.isfinite(loss.item())
    assert logits.grad is not None and logits.grad.isfinite().all()


def test_guided_alignment_by_hand() -> None:
    # B 1, U 2, T 2. Token 0 is aligned to both positions, token 1 to position 1.
    alignment = torch.log(torch.tensor([[[0.25, 0.75], [0.5, 0.5]]]))
    loss = guided_alignment_loss(alignment, torch.tensor([0, 1, 3]), torch.tensor([0.5, 0.5, 1.0]))
    expected = 0.5 * math.log(4) + 0.5 * math.log(4 / 3) + math.log(2)
    assert loss.item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (100000, PositiveWeight(100000.0)),
        ("1e5", PositiveWeight(100000.0)),
        ("auto:0.5", PositiveWeight(0.5, auto=True)),
    ],
)
def test_positive_weight_is_read(text: float | str, expected: PositiveWeight) -> None:
    assert PositiveWeight.parse(text) == expected


@pytest.mark.parametrize("text", ["auto", "auto:", "auto:-1", "0", "many", "nan", "inf"])
def test_bad_positive_weight(text: str) -> None:
    with pytest.raises(ConfigError, match=r"positive_weight: got .* expected a positive number"):
        PositiveWeight.parse(text)


def test_typical_weight() -> None:
    assert PositiveWeight(7.0).typical(100, 4.0) == 7.0
    assert PositiveWeight(2.0, auto=True).typical(100, 4.0) == 48.0
