"""Attention: torch's own by default; the CUDA kernels through Triton's interpreter."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from sieve.model.attention import attend


def test_by_hand() -> None:
    q = torch.zeros(1, 1, 1, 2)  # equal scores: the mean of the real values
    k = torch.randn(1, 1, 3, 2)
    v = torch.tensor([[[[2.0, 0.0], [4.0, 6.0], [100.0, 100.0]]]])
    mask = torch.tensor([True, True, False])[None, None, None]
    assert attend(q, k, v, mask).flatten().tolist() == [3.0, 3.0]


def test_causal_positions_see_no_future() -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 1, 4, 2)
    whole = attend(q, k, v, None, causal=True)
    for u in range(4):
        alone = attend(q[:, :, u : u + 1], k[:, :, : u + 1], v[:, :, : u + 1], None)
        torch.testing.assert_close(whole[:, :, u : u + 1], alone)


@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton (extra 'gpu') is not installed"
)
def test_kernels_for_short_sequences_equal_torch() -> None:
    script = Path(__file__).with_name("attention_interpreted.py")
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "ok\n", done.stderr
