"""Lexicons of different aligners on one model (paper, table 1): does a better aligner help?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sieve.evaluate.measure.comparison import (
    NONE,
    TableOptions,
    output_probe,
    signature,
    translated,
)
from sieve.evaluate.measure.probes import recalls
from sieve.evaluate.measure.sets import ParallelSet
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import LexiconTopK
from sieve.translate.translator import Translator

TOP = (200, 1000)


@dataclass(frozen=True)
class AlignerRow:
    """The k best tokens of one lexicon."""

    test: str
    lexicon: str
    about: str
    """What the lexicon says of its making."""
    k: int
    output: float
    """Recall (0 to 1) of unique tokens of the unrestricted output."""
    reference: float
    """Of unique tokens of the reference."""
    mean_size: float
    signature: str


def measure_aligners(
    translator: Translator,
    test_set: ParallelSet,
    lexicons: Mapping[str, Lexicon],
    options: TableOptions,
    done: Callable[[int], object] = lambda number: None,
) -> list[AlignerRow]:
    """Recall of every lexicon at every k; the set is translated once, unrestricted."""
    full = translated(translator, test_set, NONE, options, done)
    probe = output_probe(translator, test_set, full)
    rows = []
    for name, lexicon in lexicons.items():
        selectors = {str(k): LexiconTopK(lexicon, k) for k in TOP}
        for k, recall in recalls(translator.engine, probe, selectors).items():
            about = lexicon.info.get("signature", "")
            note = signature(translator, test_set, f"{name}:{k}", options.search)
            output, reference = recall["output"], recall["reference"]
            rows.append(
                AlignerRow(
                    test_set.name, name, about, int(k), output.recall, reference.recall,
                    reference.mean_size, note,
                )
            )  # fmt: skip
    return rows
