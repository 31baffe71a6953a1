"""The device that a user names, if this machine has it."""

import torch

from sieve.config import device_name
from sieve.errors import ModelError


def torch_device(name: str) -> torch.device:
    """Of `cpu`, `cuda` or `cuda:N`."""
    if device_name(name) != "cpu" and not torch.cuda.is_available():
        raise ModelError(f"device '{name}': torch finds no GPU here; use 'cpu'")
    return torch.device(name)
