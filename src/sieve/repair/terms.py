"""Translations that can use, or must use, the words of a glossary.

Targets of entries that a line has are made reachable. To force one that the model did not write,
the translation is cut where its alignment reaches the source phrase, the target is put there, and
the model goes on from that beginning; so each forced target appears, in the order of the source.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sieve.repair.glossary import Glossary, Match
from sieve.repair.surface import look_at

if TYPE_CHECKING:
    from sieve.tokenize.tokenizer import Tokenizer
    from sieve.translate.translation import Request, Translation
    from sieve.translate.translator import Translator


def run_with_glossary(
    translator: Translator, lines: Sequence[str], request: Request, glossary: Glossary
) -> list[Translation]:
    """As `Translator.run`, with the words of a glossary.

    Args:
        translator: Translates.
        lines: Sentences that need no splitting.
        request: How, its own glossary left out.
        glossary: What to look for.
    """
    normalize = translator.tokenizers.source.normalize
    surfaces = [look_at(normalize(line), translator.languages[0]) for line in lines]
    # what is in capitals is read in lower case: forced beginnings must be, too
    texts = [one.text if one.shouted else one.line for one in surfaces]
    matches = [glossary.find(text) for text in texts]
    groups: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for row, found in enumerate(matches):
        groups[tuple(sorted({match.target for match in found}))].append(row)
    results: dict[int, Translation] = {}
    for targets, rows in groups.items():
        with_words = replace(request, include=(*request.include, *targets))
        given = request.prefixes and tuple(request.prefixes[row] for row in rows)
        with_words = replace(with_words, prefixes=given)
        translations = translator.run([texts[row] for row in rows], with_words)
        for row, one in zip(rows, translations, strict=True):
            results[row] = one
            if request.force_glossary and targets:
                results[row] = _forced(translator, texts[row], one, matches[row], with_words)
    for row, surface in enumerate(surfaces):
        if surface.shouted:
            results[row] = replace(results[row], text=surface.finish(results[row].text))
    return [results[row] for row in range(len(lines))]


def _forced(
    translator: Translator,
    text: str,
    translation: Translation,
    matches: Sequence[Match],
    request: Request,
) -> Translation:
    """A translation in which the target of every match appears."""
    aligned = replace(request, options=replace(request.options, alignment=True, n_best=1))
    ends = _piece_ends(translator.tokenizers.source, text)
    begun = ""  # what is fixed by now
    for match in matches:
        if match.target in translation.text:
            continue
        [guess] = translator.run([text], replace(aligned, prefixes=(begun,)))
        first = next((i for i, end in enumerate(ends) if end > match.start), 0)
        last = next((i for i, end in enumerate(ends) if end >= match.end), len(ends) - 1)
        kept = _before(guess, first, last)
        begun = f"{kept if len(kept) >= len(begun) else begun} {match.target}".strip()
        [translation] = translator.run([text], replace(request, prefixes=(begun,)))
    return translation


def _before(guess: Translation, first: int, last: int) -> str:
    """What a translation says before the words that belong to source pieces `first` to `last`."""
    places = guess.positions
    inside = [u for u, place in enumerate(places) if first <= place <= last]
    later = [u for u, place in enumerate(places) if place > last]
    cut = min(inside) if inside else min(later, default=len(places))
    while 0 < cut < len(places) and not guess.pieces[cut].startswith("▁"):
        cut -= 1  # never within a word
    return "".join(guess.pieces[:cut]).replace("▁", " ").strip()


def _piece_ends(tokenizer: Tokenizer, text: str) -> list[int]:
    """Where each source piece ends in the text."""
    [ids] = tokenizer.encode([text])
    return [len(tokenizer.decode([ids[: count + 1]])[0]) for count in range(len(ids))]
