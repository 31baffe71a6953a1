"""Parts of a line that are not language, around a model. Knows no number and no name."""
