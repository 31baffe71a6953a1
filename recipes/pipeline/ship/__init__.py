"""From trained weights to the directory that ships, its scores and its card."""
