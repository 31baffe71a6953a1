"""Measurements: recall of selection, translation quality."""
