"""docs/results.md from docs/results/*.json.

    python benchmarks/render_results.py            # write it
    python benchmarks/render_results.py --check    # exit 1 where it is not what would be written

Prose stands here, numbers come from the files. The paper's tables are `replication.py`'s.
"""

import sys
from pathlib import Path

from results_bulk import bulk
from results_common import RESULTS, Json, read, table, write_page
from results_cpu import cpu
from results_fidelity import fidelity
from results_gpu import gpu
from results_hardening import hardening
from results_long import long_lines, lossless_beam
from results_models import extras, lossless, models, names
from results_parts import parts
from results_quality import quality
from results_quick import quick
from results_serve import killed_workers, many_models, server

PAGE = Path(__file__).parents[1] / "docs" / "results.md"
INTRODUCTION = [
    "# Results",
    "Rendered by `python benchmarks/render_results.py` from the JSON files under `docs/results/`, "
    "each of which names the command that wrote it: change those, not this page. Recall is the "
    "share of a sentence's unique target tokens (no EOS, BOS, PAD) that are in its shortlist, "
    'averaged over sentences; "at a mean of N tokens" is one threshold for the whole test set. '
    "What was measured besides is listed at the end; the files hold it.",
]
CHOSEN = [
    "## Which set chose what",
    *table(
        ("set", "what was chosen with it"),
        (
            (
                "newstest2017, newstest2018",
                "development: settling, the last stage of the head, operating points, dial and "
                "confidence, the weights of `quality`, the fall of the threshold in long "
                "sentences, the rules for names and numbers, the bonus "
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


FAIR = [
    "## Selection on models that it did not shape",
    "Frozen models of other toolkits, lexicons and an attached head at equal sizes: "
    "[Firefox's English to Portuguese](fair-comparison.md) with its own shortlist "
    "(`fair_en_pt.json`), [OPUS-MT English to French](fair-comparison-en-fr.md) with lexicons of "
    "its own outputs and of people's pairs (`fair_en_fr.json`). "
    "[Heads for models that others trained](attach.md); "
    "[the paper's tables and figures](replication.md), each with a verdict.",
]


def render() -> str:
    """The whole page."""
    sections = [
        INTRODUCTION,
        CHOSEN,
        models(),
        FAIR,
        *names(),
        fidelity(),
        quality(),
        lossless(),
        lossless_beam(),
        long_lines(),
        *extras(),
        *server(),
        *killed_workers(),
        *many_models(),
        *bulk(),
        quick(),
        gpu(),
        cpu(),
        parts(),
        *hardening(),
    ]
    text = "\n\n".join("\n".join(lines) for lines in sections)
    return f"{text}\n\n" + "\n".join(others(text)) + "\n"


def others(text: str) -> list[str]:
    """What is measured and shown neither here nor among the replications."""
    there = text + PAGE.with_name("replication.md").read_text(encoding="utf-8")
    left = [path for path in sorted(RESULTS.glob("*.json")) if f"`{path.name}`" not in there]
    return [
        "## What else was measured",
        "The files say what, with which command, and every number.",
        "",
        *(f"- `{path.name}`: {_about(read(path.stem))}" for path in left),
    ]


def _about(content: Json) -> str:
    command = content.get("command") or content.get("commands")
    return f"`{command}`" if isinstance(command, str) else "several commands"


def main() -> int:
    return write_page(PAGE, render(), __doc__)


if __name__ == "__main__":
    sys.exit(main())
