"""Documents: HTML, Markdown and plain text, translated with their markup in place.

Knows a translator by what it answers; no engine, no server.
"""

from sieve.documents.document import (
    Document,
    Format,
    read_document,
    token_counter,
    translate_document,
)

__all__ = ["Document", "Format", "read_document", "token_counter", "translate_document"]
