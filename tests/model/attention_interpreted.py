"""Run with TRITON_INTERPRET=1: the short-attention kernels on a CPU against torch's own."""

import math

import torch
import torch.nn.functional as F

from sieve.kernels import attention_triton as kernels

torch.manual_seed(0)
for U, T, masked, causal in ((5, 7, True, False), (20, 20, True, False), (9, 9, False, True)):
    B, H, D = 2, 2, 32
    qkv = torch.randn(B, T, 3, H, D).half()
    q = torch.randn(B, U, H, D).half().transpose(1, 2)
    k, v = qkv[:, :, 1].transpose(1, 2), qkv[:, :, 2].transpose(1, 2)
    mask = (torch.arange(T)[None] < torch.tensor([[T], [3]])) if masked else None
    wide = tuple(x.float().detach().requires_grad_() for x in (q, k, v))
    queries, keys, values = wide
    rows = None if mask is None else mask[:, None, None]
    expected = F.scaled_dot_product_attention(
        queries, keys, values, attn_mask=rows, is_causal=causal
    )
    scale = 1 / math.sqrt(D)
    got = kernels.forward(q, k, v, mask, causal, scale).transpose(1, 2)
    torch.testing.assert_close(got.float(), expected.detach(), rtol=1e-2, atol=5e-3)
    grad = torch.randn(B, H, U, D).half()
    expected_grads = torch.autograd.grad(expected, wide, grad.float())
    grads = kernels.backward(grad, q, k, v, mask, causal, scale)
    for name, a, b in zip("qkv", grads, expected_grads, strict=True):
        torch.testing.assert_close(
            a.transpose(1, 2).float(), b, rtol=1e-2, atol=1e-2, msg=("d" + name + ": {}").format
        )
print("ok")
