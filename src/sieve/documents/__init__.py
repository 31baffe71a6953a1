"""Documents: HTML, Markdown and plain text, translated with their markup in place."""

from sieve.documents.document import (
    Document,
    Format,
    read_document,
    token_counter,
    translate_document,
)

__all__ = ["Document", "Format", "read_document", "token_counter", "translate_document"]
