"""max over positions of a projection to the vocabulary, without the (B, T, V) tensor.

Words are taken in blocks: a block's products (B, T, C) live only until their maximum is known.
The backward pass puts each word's gradient back at the one position that won.
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
    """`pooled_projection` in fp32, plus bias (V,)."""
    kernels = kernels_for("pooling", x)
    inference = torch.is_inference_mode_enabled() and x.element_size() == 2
    if kernels is not None and inference and x.shape[1] <= kernels.LONGEST:
        found: Tensor = kernels.pooled_logits(x, mask, weight, bias)
        return found
    return pooled_projection(x, mask, weight).float() + bias.float()


class _PooledProjection(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        B, V = x.shape[0], weight.shape[0]
        z = x.new_empty(B, V)
        needs_winners = any(ctx.needs_input_grad)
        winners = x.new_empty(B, V if needs_winners else 0, dtype=torch.int16)
        for words in _blocks(x, V):
            products = x @ weight[words].T  # (B, T, C)
            if needs_winners:
                z[:, words], index = products.max(dim=1)
                winners[:, words] = index.to(torch.int16)
            else:
                z[:, words] = products.amax(dim=1)
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
        for words in _blocks(x, weight.shape[0]):
            index = winners[:, words].long()[:, None]  # (B, 1, C)
            placed = x.new_zeros(B, T, index.shape[2])
            placed.scatter_(1, index, grad[:, None, words].to(x.dtype))
            flat = placed.view(B * T, -1)
            if grad_x is not None:
                grad_x += (flat @ weight[words]).view(B, T, D)
            if grad_weight is not None:
                grad_weight[words] = flat.T @ x.reshape(B * T, D)
        return None if grad_x is None else grad_x.to(x.dtype), grad_weight


def _blocks(x: Tensor, words: int) -> list[slice]:
    """Slices of the vocabulary whose products fit BLOCK_ELEMENTS; multiples of 64 words."""
    rows = max(1, x.shape[0] * x.shape[1])
    width = max(64, BLOCK_ELEMENTS.get(x.device.type, 2**22) // rows // 64 * 64)
    return [slice(i, min(i + width, words)) for i in range(0, words, width)]
