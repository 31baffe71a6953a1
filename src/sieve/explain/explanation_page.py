"""An explanation as one HTML page that needs nothing else: light and dark, also on a phone."""

from html import escape

from sieve.evaluate.present.web import page
from sieve.explain.explanation import Explanation, SourceWord, Text


def as_html(one: Explanation) -> str:
    """The page; whatever the sentence holds is text in it."""
    return page(one.source, f"<h1>{escape(one.source)}</h1>{body(one)}")


def body(one: Explanation) -> str:
    """What stands on the page below its title."""
    parts = [_systems(one)]
    parts += [_text(one, text) for text in one.texts]
    if one.words:
        rows = "".join(map(_word, one.words))
        parts.append(
            f"<h2>Votes of each source word, λ = {one.threshold:g}</h2>"
            f'<div class="wide"><table>{rows}</table></div>'
        )
    return "".join(parts)


def _systems(one: Explanation) -> str:
    rows = "".join(
        f"<tr><th>{escape(system.selection)}</th><td>{escape(system.translation)}</td>"
        f'<td class="soft">{system.size} of {one.vocab_size} words</td></tr>'
        for system in one.systems
    )
    return f'<h2>Translations</h2><div class="wide"><table>{rows}</table></div>'


def _text(one: Explanation, text: Text) -> str:
    rows = []
    for system in one.systems[1:]:  # without selection everything is within reach
        lost = sum(system.selection in token.missing for token in text.tokens)
        shown = " ".join(
            f'<span class="lost" title="cannot be reached">{escape(token.piece)}</span>'
            if system.selection in token.missing
            else f"<span>{escape(token.piece)}</span>"
            for token in text.tokens
        )
        rows.append(
            f"<tr><th>{escape(system.selection)}</th><td>{shown}</td>"
            f'<td class="soft">{lost} unreachable</td></tr>'
        )
    voters = "".join(
        f"<tr><th>{escape(token.piece)}</th><td>{escape(token.voter)}</td>"
        f'<td class="soft">{token.probability:.4f}</td></tr>'
        for token in text.tokens
        if token.probability is not None
    )
    label = escape(text.label)
    found = f'<h2>Within reach: {label}</h2><div class="wide"><table>{"".join(rows)}</table></div>'
    if voters:
        found += (
            f'<h2>Who voted for the {label}</h2><div class="wide"><table>{voters}</table></div>'
        )
    return found


def _word(word: SourceWord) -> str:
    votes = "".join(
        f'<span class="vote">{escape(vote.piece)} '
        f'<span class="soft">{vote.probability:.3f}</span></span>'
        for vote in word.votes
    )
    more = word.number - len(word.votes)
    rest = f'<span class="soft">and {more} more</span>' if more else ""
    return f"<tr><th>{escape(word.text)}</th><td>{votes}{rest}</td></tr>"
