"""Rows of files: text, tables, JSON lines, Parquet; read in pieces, written with translations.

Knows neither translators nor where files are.
"""
