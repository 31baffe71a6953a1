"""Signs of bad translations by a model: what a student should not learn from its teacher.

Cheap enough for millions of lines and without a language identifier, which a GPU machine may not
have. Rules on lengths in subword tokens come with `sieve prepare`.
"""

import re

from pipeline.text import noise

_REPEATED = re.compile(r"(?<!\S)(\S+(?: \S+){0,3})(?: \1){2,}(?!\S)")  # three times in a row
_RUN = re.compile(r"(\S{1,4}?)\1{5,}")  # the same letters six times in a row
_SHORT = 3  # words: names and terms may well stay as they are


def refused_by(source: str, output: str, reference: str, ratio: float) -> str | None:
    """The name of the first rule that refuses an output, None for one to learn from.

    Args:
        source: What was translated.
        output: By the model; empty where it found no end.
        reference: By a human.
        ratio: Mean characters of an output for one of its source.
    """
    if not output:
        return "nothing"
    if output == source != reference and len(source.split()) > _SHORT:
        return "copy"
    if any(rule.search(output) and not rule.search(source) for rule in (_REPEATED, _RUN)):
        return "repetition"
    return noise.refused_by(source, output, ratio)
