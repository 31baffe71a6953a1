"""Catalogues of messages and data files: values into blocks, keys untouched. Knows no files."""
