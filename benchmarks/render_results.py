"""docs/results.md from docs/results/*.json.

    python benchmarks/render_results.py            # write it
    python benchmarks/render_results.py --check    # exit 1 where it is not what would be written

Prose stands here, numbers come from the files. The paper's tables are `replication.py`'s.
"""

import sys
from pathlib import Path

from results_bulk import bulk
from results_common import table, write_page
from results_cpu import cpu
from results_factored import factored
from results_fidelity import fidelity
from results_gpu import gpu
from results_hardening import hardening
from results_models import extras, fused, lossless, models, names, teachers
from results_parts import parts
from results_proofs import proofs
from results_quality import quality
from results_quick import lexicons, paper_recipe, quick
from results_serve import killed_workers, server

PAGE = Path(__file__).parents[1] / "docs" / "results.md"
INTRODUCTION = [
    "# Results",
    "Rendered by `python benchmarks/render_results.py` from the JSON files under `docs/results/`, "
    "each of which names the command that wrote it: change those, not this page. Recall is the "
    "share of a sentence's unique target tokens (no EOS, BOS, PAD) that are in its shortlist, "
    'averaged over sentences; "at a mean of N tokens" is one threshold for the whole test set. '
    "The paper's numbers stand beside ours on [the page of replications](replication.md).",
]
CHOSEN = [
    "## Which set chose what",
    *table(
        ("set", "what was chosen with it"),
        (
            (
                "newstest2017, newstest2018",
                "development: settling, the last stage of the head, operating points, dial and "
                "confidence, the weights of `quality`, the rules for names and numbers, the bonus "
                "for a lexicon's tokens",
            ),
            (
                "newstest2019",
                "the sharpening of the built-in models (logits times 1.2) was looked for because "
                "this set had shown 89.7 % equal outputs. Nothing has been chosen with it since, "
                "and nothing will be",
            ),
            (
                "flores200_devtest, tatoeba2021, ntrex128, multi30k, IdiomTranslationDS, "
                "Wikiquote's proverbs, idioms in context",
                "nothing",
            ),
        ),
    ),
]


REPLICATION = [
    "## The paper's tables and figures",
    "[Replication](replication.md): each of them, its number beside ours, what differs and a "
    "verdict.",
]


def render() -> str:
    """The whole page."""
    sections = [
        INTRODUCTION,
        CHOSEN,
        *models(),
        *names(),
        fidelity(),
        quality(),
        *teachers(),
        *lossless(),
        *proofs(),
        *extras(),
        fused(),
        factored(),
        *server(),
        *killed_workers(),
        *bulk(),
        REPLICATION,
        quick(),
        lexicons(),
        paper_recipe(),
        gpu(),
        cpu(),
        parts(),
        *hardening(),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def main() -> int:
    return write_page(PAGE, render(), __doc__)


if __name__ == "__main__":
    sys.exit(main())
