"""Measurements as tables, figures and pages. Measures nothing."""
