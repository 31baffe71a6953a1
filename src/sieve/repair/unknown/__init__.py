"""Characters that a vocabulary lacks, brought through a model. Knows no language."""
