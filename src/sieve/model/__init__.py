"""The translation model and its vocabulary-selection head in torch."""
