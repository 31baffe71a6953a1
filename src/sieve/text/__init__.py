"""From raw text to numbered, memory-mapped sentence pairs. No torch."""
