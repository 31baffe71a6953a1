"""Formats of plain text, one file each: text into blocks. Knows no files."""
