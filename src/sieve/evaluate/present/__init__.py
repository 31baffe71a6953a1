"""Measurements as tables, charts and figures. Measures nothing."""
