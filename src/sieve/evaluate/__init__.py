"""Measurements of translators: `measure` takes them, `present` shows them, `human` asks people."""
