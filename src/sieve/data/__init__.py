"""From raw text to numbered, memory-mapped sentence pairs and batches of them.

Knows neither torch nor models.
"""
