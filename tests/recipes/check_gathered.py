"""Run by test_distil with Triton's interpreter: the kernel does what its definition does."""

import torch

from pipeline.distil import bulk, gathered_triton


def main() -> None:
    torch.manual_seed(3)
    N, H, U, D, beams = 6, 2, 40, 16, 3
    for now in (0, 1, 5, 16, 17, 39):
        past = torch.randn(2, N, H, U, D)
        places = torch.randint(0, beams, (N, U), dtype=torch.int32)
        qkv, position = torch.randn(N, 3 * H * D), torch.tensor([now])
        pasts = past.clone(), past.clone()
        expected = bulk.attend(qkv, pasts[0], places, position, beams)
        found = gathered_triton.attend(qkv, pasts[1], places, position, beams)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(pasts[1], pasts[0], atol=0, rtol=0)
        assert not torch.equal(past[:, :, :, now], pasts[0][:, :, :, now])
    print("the same")


if __name__ == "__main__":
    main()
