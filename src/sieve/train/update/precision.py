"""Arithmetic of the forward pass by its name in the configuration."""

import torch

DTYPES = {"float32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}
"""None: no autocast."""
