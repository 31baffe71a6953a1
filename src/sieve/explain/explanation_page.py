"""An explanation as one HTML page. Knows its values alone, no translator."""

from sieve.explain.explanation import Explanation
from sieve.pages.standalone import render


def as_html(explanation: Explanation) -> str:
    """The page; whatever the sentence holds is text in it."""
    return render(
        "explain/explanation_page.html", title=explanation.source, explanation=explanation
    )
