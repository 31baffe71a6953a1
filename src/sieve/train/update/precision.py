"""Arithmetic of the forward pass by its name in the configuration."""

import torch

DTYPES = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}
"""None: no autocast."""
