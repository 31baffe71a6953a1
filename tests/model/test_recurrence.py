"""The scan against the loop it replaces, forward and backward."""

import pytest
import torch
from torch import Tensor

from sieve.model.layers import SSRU
from sieve.model.recurrence import linear_recurrence


def loop(gates: Tensor, values: Tensor, reverse: bool) -> Tensor:
    c = torch.zeros_like(values[:, 0])
    steps = range(values.shape[1])
    states = {}
    for t in reversed(steps) if reverse else steps:
        c = gates[:, t] * c + values[:, t]
        states[t] = c
    return torch.stack([states[t] for t in steps], dim=1)


def test_by_hand() -> None:
    gates = torch.tensor([[[0.5], [0.25], [0.5]]])
    values = torch.tensor([[[2.0], [4.0], [1.0]]])
    # 2; 0.25*2 + 4 = 4.5; 0.5*4.5 + 1 = 3.25
    assert linear_recurrence(gates, values, False).flatten().tolist() == [2.0, 4.5, 3.25]
    # 1; 0.25*1 + 4 = 4.25; 0.5*4.25 + 2 = 4.125
    assert linear_recurrence(gates, values, True).flatten().tolist() == [4.125, 4.25, 1.0]


@pytest.mark.parametrize("length", [1, 2, 3, 8, 31, 100])
@pytest.mark.parametrize("reverse", [False, True])
def test_equals_loop_forward_and_backward(length: int, reverse: bool) -> None:
    torch.manual_seed(length)
    gates = torch.rand(3, length, 5, requires_grad=True)
    values = torch.randn(3, length, 5, requires_grad=True)
    weights = torch.randn(3, length, 5)
    results = []
    for function in (loop, linear_recurrence):
        states = function(gates, values, reverse)
        grads = torch.autograd.grad((states * weights).sum(), (gates, values))
        results.append((states, *grads))
    for expected, got in zip(*results, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


def test_gradient_check_in_double_precision() -> None:
    torch.manual_seed(0)
    gates = torch.rand(2, 6, 3, dtype=torch.float64, requires_grad=True)
    values = torch.randn(2, 6, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda f, v: linear_recurrence(f, v, False), (gates, values))


def test_operator_contract() -> None:
    gates, values = torch.rand(2, 4, 3, requires_grad=True), torch.rand(2, 4, 3, requires_grad=True)
    torch.library.opcheck(linear_recurrence, (gates, values, False))


def test_ssru_sequence_equals_steps() -> None:
    torch.manual_seed(1)
    unit = SSRU(8)
    x = torch.randn(2, 7, 8)
    whole = unit(x)
    c = torch.zeros(2, 8)
    for t in range(7):
        h, c = unit.step(x[:, t], c)
        torch.testing.assert_close(h, whole[:, t], rtol=1e-5, atol=1e-5)


def test_ssru_by_hand() -> None:
    unit = SSRU(1)
    with torch.no_grad():
        unit.forget.weight.fill_(0.0)
        unit.forget.bias.fill_(0.0)  # f = 1/2 always
        unit.value.weight.fill_(2.0)
    x = torch.tensor([[[1.0], [-4.0], [3.0]]])
    # c: 1/2·2 = 1; 1/2 + 1/2·(−8) = −3.5; −1.75 + 3 = 1.25
    assert unit(x).flatten().tolist() == [1.0, 0.0, 1.25]
