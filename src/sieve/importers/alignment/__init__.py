"""Which attention of a model aligns words, measured when it is imported. Knows no family."""
