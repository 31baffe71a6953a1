"""Numbers of a line and of its translation, compared and mended. Knows no engine."""
