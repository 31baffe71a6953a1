"""Text in, text out: `load`, `Translator`, `Translation`. Knows engines by their seam alone."""
