"""The blockwise pooled projection against the plain one, forward and backward."""

# private: what is held at once

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from sieve.model import pooling
from sieve.model.pooling import pooled_projection


def naive(x: Tensor, mask: Tensor, weight: Tensor) -> Tensor:
    products = x @ weight.T
    return products.masked_fill(~mask[..., None], -torch.inf).amax(dim=1)


def random_case(seed: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    B, T, D, V = 3, 7, 5, 333
    x = torch.randn(B, T, D, generator=generator, dtype=dtype, requires_grad=True)
    weight = torch.randn(V, D, generator=generator, dtype=dtype, requires_grad=True)
    lengths = torch.tensor([7, 1, 4])
    return x, torch.arange(T)[None] < lengths[:, None], weight


def test_by_hand() -> None:
    x = torch.tensor([[[1.0, 0.0], [0.0, 2.0], [9.0, 9.0]]])
    mask = torch.tensor([[True, True, False]])
    weight = torch.tensor([[3.0, 1.0], [-1.0, -1.0], [0.0, 1.0]])
    # positions vote (3, -1, 0) and (2, -2, 2); the third is padding
    assert pooled_projection(x, mask, weight).tolist() == [[3.0, -1.0, 2.0]]


@pytest.mark.parametrize("elements", [1, 64 * 21, 2**22])
def test_equals_naive_forward_and_backward_for_any_block(
    monkeypatch: pytest.MonkeyPatch, elements: int
) -> None:
    monkeypatch.setitem(pooling.BLOCK_ELEMENTS, "cpu", elements)
    x, mask, weight = random_case(elements)
    upstream = torch.randn(3, 333, dtype=torch.float64)
    results = []
    for function in (naive, pooled_projection):
        z = function(x, mask, weight)
        results.append((z, *torch.autograd.grad((z * upstream).sum(), (x, weight))))
    for expected, got in zip(*results, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-6, atol=1e-6)


def test_no_gradient_reaches_padding() -> None:
    x, mask, weight = random_case(3)
    (grad,) = torch.autograd.grad(pooled_projection(x, mask, weight).sum(), x)
    assert (grad[~mask] == 0).all()
    assert (grad[mask] != 0).any()


def test_works_without_gradients() -> None:
    x, mask, weight = random_case(4)
    with torch.no_grad():
        torch.testing.assert_close(pooled_projection(x, mask, weight), naive(x, mask, weight))


def test_blocks_bound_what_is_held_at_once() -> None:
    x = torch.zeros(64, 32, 4)
    widths = [block.stop - block.start for block in pooling._blocks(x, 256_000)]
    assert sum(widths) == 256_000
    assert max(widths) * 64 * 32 <= pooling.BLOCK_ELEMENTS["cpu"]


def test_gradient_check_in_double_precision() -> None:
    generator = torch.Generator().manual_seed(8)
    x = torch.randn(2, 3, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(6, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, True, True], [True, False, False]])
    assert torch.autograd.gradcheck(lambda x, w: pooled_projection(x, mask, w), (x, weight))


def test_kernel_in_tritons_interpreter() -> None:
    pytest.importorskip("triton", reason="triton is not installed: its kernels cannot be checked")
    program = Path(__file__).parents[1] / "kernels" / ("check_pooling_triton.py")
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
