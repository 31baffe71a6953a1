"""Sieve on Ray: `sieve.ray.Translate` translates columns of a Ray dataset.

Knows nothing but where it is; Ray itself is imported by whoever has a dataset.
"""

from sieve.bulk.ray_translate import Translate

__all__ = ["Translate"]
