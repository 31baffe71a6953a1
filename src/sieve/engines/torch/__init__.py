"""The torch engine: search step by step or captured in a CUDA graph. Knows ids, never text."""
