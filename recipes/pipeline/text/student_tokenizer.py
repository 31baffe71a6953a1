"""The smaller vocabulary that the students of a pair share.

Learns from the same lines of clean text as the teacher's tokenizer: at most
50,000 pairs and half of any corpus. A student translates one way and needs no tags.
"""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pipeline.recipe import Recipe
from pipeline.text.collect import BLOCK, COVERAGE, PARTS, Lines, sample
from sieve.data.reading import read_lines
from sieve.errors import InputError
from sieve.files import whole_directory
from sieve.tokenize.tokenizer_training import TokenizerOptions, train_tokenizers


class Collected:
    """The lines of one group and language, part by part, in the order of the corpora."""

    def __init__(self, directory: Path, group: str, language: str) -> None:
        self._paths = {part: directory / part / f"{group}.{language}.bz2" for part in PARTS}
        self._files: dict[str, Iterator[str]] = {}

    def take(self, part: str, number: int) -> list[str]:
        """The next lines of a part."""
        if part not in self._files:
            self._files[part] = iter(read_lines(self._paths[part]))
        return list(islice(self._files[part], number))


def corpus(files: Collected, kept: int, shares: int) -> Iterator[str]:
    """The lines of the next corpus, in the order in which it was cut into blocks."""
    for number, start in enumerate(range(0, kept, BLOCK)):
        yield from files.take(PARTS[number % shares > 0], min(BLOCK, kept - start))


def learned_from(pair: Recipe, collected: Path) -> Lines:
    """What the teacher's tokenizer has learned from."""
    counts = json.loads((collected / "collected.json").read_text())["corpora"]
    sides: Lines = ([], [])
    for side, language in zip(sides, pair.languages, strict=True):
        files = {group: Collected(collected, group, language) for group in pair.groups}
        for group, name in pair.corpora():
            kept = counts[name]["kept"]
            wanted = set(sample(kept))
            lines = corpus(files[group], kept, pair.first_part.get(name, 1))
            side += [line for place, line in enumerate(lines) if place in wanted]
    if len(sides[0]) != len(sides[1]):
        raise InputError(f"{collected}: {len(sides[0])} and {len(sides[1])} lines, expected equal")
    return sides


def learn_tokenizer(pair: Recipe, collected: Path, output: Path) -> None:
    """The whole stage."""
    options = TokenizerOptions(vocab_size=pair.pieces.student, character_coverage=COVERAGE)
    tokenizers = train_tokenizers(options, *learned_from(pair, collected))
    with whole_directory(output) as partial:
        tokenizers.save(partial)
