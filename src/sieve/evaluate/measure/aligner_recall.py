"""Lexicons of different aligners on one model (paper, table 1): does a better aligner help?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sieve.evaluate.measure.probes import recalls
from sieve.evaluate.measure.sets import ParallelSet
from sieve.evaluate.measure.table import NONE, TableOptions, output_probe, signature, translated
from sieve.evaluate.present.summary import Table
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import LexiconTopK
from sieve.translate.translator import Translator

TOP = (200, 1000)


@dataclass(frozen=True)
class AlignerRow:
    """The k best words of one lexicon."""

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
    one: ParallelSet,
    lexicons: Mapping[str, Lexicon],
    options: TableOptions,
    done: Callable[[int], object] = lambda number: None,
) -> list[AlignerRow]:
    """Recall of every lexicon at every k; the set is translated once, unrestricted."""
    full = translated(translator, one, NONE, options, done)
    probe = output_probe(translator, one, full)
    rows = []
    for name, lexicon in lexicons.items():
        selectors = {str(k): LexiconTopK(lexicon, k) for k in TOP}
        for k, found in recalls(translator.engine, probe, selectors).items():
            about = lexicon.info.get("signature", "")
            note = signature(translator, one, f"{name}:{k}", options.search)
            output, reference = found["output"], found["reference"]
            rows.append(
                AlignerRow(
                    one.name, name, about, int(k), output.recall, reference.recall,
                    reference.mean_size, note,
                )
            )  # fmt: skip
    return rows


def aligner_tables(rows: Sequence[AlignerRow]) -> list[Table]:
    """A table for each set, laid out as the paper's."""
    headers = [f"{name}, k={k}" for k in TOP for name in ("out %", "ref %", "size")]
    found = []
    for test in dict.fromkeys(row.test for row in rows):
        here = [row for row in rows if row.test == test]
        lines = []
        for name in dict.fromkeys(row.lexicon for row in here):
            cells = [
                text
                for row in here
                if row.lexicon == name
                for text in (
                    f"{100 * row.output:.1f}",
                    f"{100 * row.reference:.1f}",
                    f"{row.mean_size:.0f}",
                )
            ]
            lines.append((name, *cells))
        notes = [f"{row.lexicon}: {row.about}" for row in here if row.about and row.k == TOP[0]]
        notes.append(here[0].signature.replace(f"|selection:{here[0].lexicon}:{here[0].k}", ""))
        title = f"{test}, recall of unique output and reference tokens by lexicon"
        found.append(Table(title, ("lexicon", *headers), tuple(lines), tuple(notes)))
    return found
