"""A model translates the sources of all training text, piece by piece."""
