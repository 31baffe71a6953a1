"""Markup: HTML, Markdown and XML into blocks. Knows no packages and no files."""
