"""Text into ids of a vocabulary and back. Knows no files but a tokenizer's own, and no model."""
