"""Documents of office programs: packages of XML parts, one file per family of formats.

Knows no model and no translator.
"""
