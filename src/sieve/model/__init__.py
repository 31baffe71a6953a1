"""The translation model and its selection head as readable torch.

Knows no files but through `bundle`, and no search.
"""
