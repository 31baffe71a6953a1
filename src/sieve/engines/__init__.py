"""The seam between text and arithmetic, and the engines behind it. Know ids, never text."""
