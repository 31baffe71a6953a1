"""Triton kernels and their dispatch. Know tensors alone, neither models nor searches."""
