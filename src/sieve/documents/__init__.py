"""Documents of many formats, translated with everything but their words in place.

Knows a translator by what it answers; no engine, no server.
"""

from sieve.documents.document import Document, token_counter
from sieve.documents.formats import DamagedError
from sieve.documents.recognition import FORMATS, guessed, named, recognised
from sieve.documents.streaming import (
    read_document,
    translate_bytes,
    translate_document,
    translate_file,
    translate_stream,
    windows,
)

__all__ = [
    "FORMATS",
    "DamagedError",
    "Document",
    "guessed",
    "named",
    "read_document",
    "recognised",
    "token_counter",
    "translate_bytes",
    "translate_document",
    "translate_file",
    "translate_stream",
    "windows",
]
