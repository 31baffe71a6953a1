"""A selection head for a model that has none, everything else frozen: `attach`.

Knows models by their directory and the native engine; nothing of how models are trained.
"""
