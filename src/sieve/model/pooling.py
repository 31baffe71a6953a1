"""max over positions of a projection to the vocabulary, without the (B, T, V) tensor.

Tokens are taken in blocks: a block's products (B, T, C) live only until their maximum is known.
The backward pass puts each token's gradient back at the one position that won.
"""

from typing import Any

import torch
from torch import Tensor

from sieve.kernels.dispatch import kernels_for

BLOCK_ELEMENTS = {"cuda": 2**27, "cpu": 2**22}
"""Products held at once: 256 MiB in 16 bits on a GPU; what fits the last-level cache on a CPU."""


def pooled_projection(x: Tensor, mask: Tensor, weight: Tensor) -> Tensor:
    """z_v = max over real positions t of weight_v · x_t.

    Args:
        x: States, (B, T, D).
        mask: (B, T), True for real positions; the first one must be real.
        weight: (V, D), of x's dtype.

    Returns:
        z, (B, V), of x's dtype.
    """
    # A padded position repeats the first one: it can tie with it but never exceed the maximum,
    # so no (B, T, C) product needs masking. Gradients of ties flow to the first position.
    x = torch.where(mask[..., None], x, x[:, :1])
    result: Tensor = _PooledProjection.apply(x, weight)  # type: ignore[no-untyped-call]
    return result


def pooled_logits(x: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """`pooled_projection` in float32, plus bias (V,)."""
    kernels = kernels_for("pooling", x)
    inference = torch.is_inference_mode_enabled() and x.element_size() == 2
    if kernels is not None and inference and x.shape[1] <= kernels.LONGEST:
        logits: Tensor = kernels.pooled_logits(x, mask, weight, bias)
        return logits
    return pooled_projection(x, mask, weight).float() + bias.float()


class _PooledProjection(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        B, V = x.shape[0], weight.shape[0]
        z = x.new_empty(B, V)
        needs_winners = any(ctx.needs_input_grad)
        winners = x.new_empty(B, V if needs_winners else 0, dtype=torch.int16)
        for block in _blocks(x, V):
            products = x @ weight[block].T  # (B, T, C)
            if needs_winners:
                z[:, block], index = products.max(dim=1)
                winners[:, block] = index.to(torch.int16)
            else:
                z[:, block] = products.amax(dim=1)
        ctx.save_for_backward(x, weight, winners)
        return z

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None]:
        (grad,) = grads  # (B, V)
        x, weight, winners = ctx.saved_tensors
        B, T, D = x.shape
        wide = torch.promote_types(x.dtype, torch.float32)  # many small blocks are summed
        grad_x = torch.zeros_like(x, dtype=wide) if ctx.needs_input_grad[0] else None
        grad_weight = torch.empty_like(weight) if ctx.needs_input_grad[1] else None
        for block in _blocks(x, weight.shape[0]):
            index = winners[:, block].long()[:, None]  # (B, 1, C)
            placed = x.new_zeros(B, T, index.shape[2])
            placed.scatter_(1, index, grad[:, None, block].to(x.dtype))
            flat = placed.view(B * T, -1)
            if grad_x is not None:
                grad_x += (flat @ weight[block]).view(B, T, D)
            if grad_weight is not None:
                grad_weight[block] = flat.T @ x.reshape(B * T, D)
        return None if grad_x is None else grad_x.to(x.dtype), grad_weight


def _blocks(x: Tensor, vocab_size: int) -> list[slice]:
    """Slices of the vocabulary whose products fit BLOCK_ELEMENTS; multiples of 64 tokens."""
    rows = max(1, x.shape[0] * x.shape[1])
    width = max(64, BLOCK_ELEMENTS.get(x.device.type, 2**22) // rows // 64 * 64)
    return [slice(i, min(i + width, vocab_size)) for i in range(0, vocab_size, width)]
