"""Measurements of translators, from one number to a whole report. Knows no command line.

`measure` and `benchmark` take them, `human` asks people, `present` shows them, `report` does all.
"""
