"""docs/replication.md: the paper's tables and figures, its numbers beside ours, and a verdict each.

    python benchmarks/replication.py            # write it
    python benchmarks/replication.py --check    # exit 1 where it is not what would be written

Verdicts are computed from the files under docs/results/, each of which names its command.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from replication_curves import curves
from replication_idioms import (
    adaptation,
    adaptation_figure,
    context,
    context_examples,
    examples,
    idioms,
    proverbs,
)
from replication_models import aligners, positive_weight, quality, sizes
from replication_picture import draw
from replication_section import Section
from results_common import table, write_page

PAGE = Path(__file__).parents[1] / "docs" / "replication.md"
INTRODUCTION = (
    "# The paper's tables and figures, and ours",
    "Written by `python benchmarks/replication.py` from the JSON files that each section names: "
    'change those, not this page. The paper is "The Devil is in the Details: On the Pitfalls of '
    'Vocabulary Selection in Neural Machine Translation" (NAACL 2022). *Confirmed* and *not '
    "confirmed* are about what the paper concludes, computed from our numbers; *not comparable* "
    "means that the measurement could not be made here. What differs everywhere: public texts "
    "instead of the WMT20 data, SentencePiece instead of BPE, int8 students of 12 to 17 million "
    "parameters instead of Transformers of 350 million, newstest2019 instead of newstest2020. "
    "Nothing on this page was chosen with the sets that it reports, but for the sharpening of the "
    "built-in models ([which set chose what](results.md)).",
    "The built-in models, on which most of it is measured, were trained together with their head "
    "and settled to it ([results](results.md)). That favours the head over lexicons wherever the "
    "model's own tokens count; recall of reference tokens, which most tables here are about, is "
    "affected less. On a model that no head has shaped: table 8 and "
    "[the fair comparison](fair-comparison.md).",
)
SECTIONS: tuple[Callable[[], Section], ...] = (
    aligners,
    idioms,
    proverbs,
    adaptation,
    quality,
    context,
    sizes,
    positive_weight,
    examples,
    curves,
    adaptation_figure,
    context_examples,
)


def page() -> Iterator[str]:
    """Line by line."""
    sections = [section() for section in SECTIONS]
    for paragraph in INTRODUCTION:
        yield paragraph
        yield ""
    rows = [(one.title, f"**{one.verdict}**", one.because) for one in sections]
    yield from table(("in the paper", "verdict", "why"), rows)
    yield ""
    yield "![Recall against size, figures 3 and 4](replication.svg)"
    for one in sections:
        yield ""
        yield from one.lines()


def render() -> str:
    """The whole page."""
    return "\n".join(page()) + "\n"


def main() -> int:
    return write_page(PAGE, render(), __doc__, lambda: draw(PAGE.with_suffix(".svg")))


if __name__ == "__main__":
    sys.exit(main())
