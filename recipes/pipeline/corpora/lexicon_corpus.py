"""All that a student has learned from as one corpus, for the lexicon it is compared with."""

from collections.abc import Iterator
from pathlib import Path

from pipeline.corpora.numbering import number_lines
from pipeline.corpora.student_corpora import good_pairs, read_scores
from pipeline.distil.choosing import lines_of
from pipeline.tools import read_text_lines

Pairs = tuple[list[str], list[str]]


def reference_pairs(text: Path, source: str, target: str) -> Iterator[Pairs]:
    """What people wrote, piece by piece."""
    for piece in sorted(int(folder.name) for folder in text.glob("???")):
        yield lines_of(text, piece, source), lines_of(text, piece, target)


def distilled_pairs(text: Path, distilled: Path, source: str, target: str) -> Iterator[Pairs]:
    """What the teacher wrote, piece by piece, without the bad ones."""
    for path in sorted(distilled.glob(f"???.{target}")):
        piece = int(path.name.split(".")[0])
        sources, references = (lines_of(text, piece, language) for language in (source, target))
        scores = read_scores(path)
        outputs = read_text_lines(path)
        good, translations, _ = good_pairs(sources, outputs, references, scores, float("-inf"))
        yield good, translations


def lexicon_corpus(
    output: Path, pairs: Iterator[Pairs], languages: tuple[str, str], tokenizer: Path
) -> None:
    """Makes the corpus for `sieve lexicon build`."""
    sides: Pairs = ([], [])
    for piece in pairs:
        for side, lines in zip(sides, piece, strict=True):
            side += lines
    number_lines(output, sides, languages, tokenizer)
