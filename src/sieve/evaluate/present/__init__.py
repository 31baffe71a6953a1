"""Measurements as tables, charts and figures. Measures nothing; knows no page."""
