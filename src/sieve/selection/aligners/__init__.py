"""Word aligners, and what is counted from their links. Know corpora, neither models nor engines."""
