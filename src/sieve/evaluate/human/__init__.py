"""Blind rating sheets and what people's ratings say. Knows no model and no table."""
