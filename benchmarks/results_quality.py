"""What the signals of a translation say of its quality."""

from results_common import Json, read, table

SIGNALS = ("quality", "quality, one model", "score per token", "score", "confidence")


def quality() -> list[str]:
    rows = [
        [f"{model}, {name}", *(_correlations(row[signal]) for signal in SIGNALS)]
        for model, sets in read("quality")["models"].items()
        for name, row in sets.items()
    ]
    return [
        "## What the signals say",
        "`python benchmarks/quality.py`, `quality.json`. Correlation to sentence chrF (Pearson / "
        "Kendall) of what a translation says about itself, on two sets that chose nothing; "
        "`quality` was fitted on newstest2017 and 2018. Confidence is about selection alone.",
        "",
        *table(("model, set", *SIGNALS), rows),
    ]


def _correlations(values: Json) -> str:
    return f"{values['pearson']:.2f} / {values['kendall']:.2f}"
