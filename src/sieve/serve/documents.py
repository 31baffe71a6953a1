"""The seam to documents with tags: nothing of them is loaded before the first one comes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sieve.translate.translator import Translator


def translated_html(translator: "Translator", text: str) -> str:
    """A piece of HTML with its text translated."""
    from sieve.documents import translate_document

    return translate_document(translator, text, "html")
