"""Text into numbered corpora, alignments and the configurations of training runs."""
