"""All repairs together, around models that drop, double and alter words."""

import re

from hypothesis import given
from hypothesis import strategies as st
from whole_words import FAULTS, WHOLE_WORDS, Fault, faulty, repaired

from sieve.repair.masks.patterns import parts
from sieve.repair.registry import repairs_for

STEPS = repairs_for(("en", "de"), WHOLE_WORDS).steps
WORDS = ["the", "house", "of", "cards", "{name}", "%s", "<b>", "</b>", "a@b.org", "B2B", "XIV"]
NUMBERS = st.integers(13, 999).map(str)


@given(st.lists(st.sampled_from(WORDS) | NUMBERS, min_size=2, max_size=12), FAULTS)
def test_nothing_is_lost_in_silence(words: list[str], faults: list[Fault | None]) -> None:
    line = " ".join(words)
    draft, _ = repaired(line, STEPS, faulty(faults))
    said = " ".join([draft.text, *draft.warnings])
    figures = re.findall(r"(?<![\w.,])[0-9]+(?![\w])", line)
    written = re.findall(r"[0-9]+", said)
    for number in set(figures):
        assert written.count(number) >= figures.count(number)
    for part in parts(line, "LATIN"):
        text = line[part.start : part.end]
        assert draft.text.count(text) == line.count(text)
