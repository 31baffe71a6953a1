"""The seam to documents with tags: nothing of them is loaded before the first one comes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sieve.translate.translation import Runner
    from sieve.translate.translator import Translator


def translated_html(translator: "Translator", runner: "Runner", text: str) -> str:
    """A piece of HTML with its text translated.

    Args:
        translator: Whose tokenizers and heads say what came from where.
        runner: Translates its sentences.
        text: A page or a part of one.
    """
    from sieve.documents import read_document, token_counter
    from sieve.translate.translation import Request

    document = read_document(text, "html", token_counter(translator))
    return document.requested(translator, Request(), runner)
