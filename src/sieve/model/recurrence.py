"""The linear recurrence c_t = f_t * c_{t-1} + v_t over whole sequences, without a step loop.

One operator for CPU and GPU, opaque to torch.compile. CPU (and GPUs without Triton): recursive
doubling, log2(U) passes. CUDA: a Triton kernel that walks each channel once.
The backward pass is the same recurrence run from the end.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from sieve.kernels.dispatch import kernels_for


@torch.library.custom_op("sieve::linear_recurrence", mutates_args=())
def linear_recurrence(gates: Tensor, values: Tensor, reverse: bool) -> Tensor:
    """c_t = gates_t * c_{t-1} + values_t with c_0 = 0; from the last step if `reverse`.

    Args:
        gates: f, (B, U, D), usually in (0, 1).
        values: v, (B, U, D).
        reverse: Run from t = U down to 1, c_t = gates_t * c_{t+1} + values_t.

    Returns:
        All states c, (B, U, D).
    """
    kernels = kernels_for("recurrence", gates)
    run = _doubling if kernels is None else kernels.run
    result: Tensor = run(gates.contiguous(), values.contiguous(), reverse)
    return result


@linear_recurrence.register_fake
def _(gates: Tensor, values: Tensor, reverse: bool) -> Tensor:
    return torch.empty_like(values, memory_format=torch.contiguous_format)


def _setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, bool], output: Tensor) -> None:
    gates, _, reverse = inputs
    ctx.save_for_backward(gates, output)
    ctx.reverse = reverse


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
    """With s_t the gradient that reaches c_t: s_t = g_t + f_{t+1} s_{t+1}; df_t = s_t c_{t-1}."""
    gates, states = ctx.saved_tensors
    grad_values = linear_recurrence(_shift(gates, not ctx.reverse), grad, not ctx.reverse)
    grad_gates = grad_values * _shift(states, ctx.reverse)
    return grad_gates, grad_values, None


linear_recurrence.register_autograd(_backward, setup_context=_setup_context)


def _shift(x: Tensor, left: bool) -> Tensor:
    """Moves (B, U, D) by one step along U, zeros entering."""
    pad = torch.zeros_like(x[:, :1])
    return torch.cat((x[:, 1:], pad), 1) if left else torch.cat((pad, x[:, :-1]), 1)


def _doubling(gates: Tensor, values: Tensor, reverse: bool) -> Tensor:
    """Hillis and Steele's scan: after the pass with stride s, each step holds 2s terms."""
    gates, values = gates.clone(), values.clone()
    length, stride = gates.shape[1], 1
    while stride < length:
        late, early = slice(stride, None), slice(None, length - stride)
        if reverse:
            late, early = early, late
        values[:, late] += gates[:, late] * values[:, early].clone()
        gates[:, late] *= gates[:, early].clone()
        stride *= 2
    return values
