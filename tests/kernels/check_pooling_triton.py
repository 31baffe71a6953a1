"""Run by test_pooling with TRITON_INTERPRET=1: the kernel against its definition."""

import torch

from sieve.kernels.pooling_triton import pooled_logits
from sieve.model.pooling import pooled_projection

if __name__ == "__main__":
    torch.manual_seed(0)
    for B, T in ((5, 40), (1, 9), (3, 128)):
        x, weight, bias = torch.randn(B, T, 24), torch.randn(70, 24), torch.randn(70)
        mask = torch.arange(T) < torch.randint(1, T + 1, (B, 1))
        expected = pooled_projection(x, mask, weight) + bias
        found = pooled_logits(x, mask, weight, bias)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
