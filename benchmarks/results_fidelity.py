"""What translations keep of their sources, before and after the repairs."""

from results_common import Json, percent, read, table

STATES = ("before", "now")
PART = "heldout"
"""Lines that nothing was built with."""


def fidelity() -> list[str]:
    states = {name: state for name, state in read("fidelity")["states"].items() if name in STATES}
    names = list(dict.fromkeys(model for state in states.values() for model in state["models"]))
    rows = [row for model in names for row in _rows(model, states)]
    return [
        "## What comes through: numbers, placeholders, markup",
        "`python benchmarks/fidelity.py MODEL…`, `fidelity.json`. The share of numbers (value, "
        "time, date, telephone number) and of strings to be copied (placeholders, tags, addresses, "
        "code, other scripts) of the source that the translation has, in percent, and lines with a "
        "fault, on lines that were set aside. Each pair: without the repairs and with them. Lines "
        "that were there to build with, and collected ones: in the file. What was set aside has "
        "been scored three times while this was built, by shares and categories alone; `before` is "
        "of a scorer that took 4:50pm for morning, *por cento* for 100 and word(s) for code.",
        "",
        *table(("model", "lines", "state", "numbers", "copied", "U+FFFD", "loops", "invented",
                "markup broken"), rows),
        "",
        "What that costs on news, `python benchmarks/fidelity_cost.py`, `fidelity_cost.json`: CPU "
        "time and BLEU with masks, numbers and garbage, and without; chunks of lines take turns.",
        "",
        *table(("model", "lines", "BLEU without / with", "lines changed", "time"), _costs()),
    ]  # fmt: skip


def _costs() -> list[list[object]]:
    return [
        [model, f"{row['set']}, {row['lines']:,}",
         f"{row['bleu']['without']} / {row['bleu']['with']}", row["changed"],
         f"{row['ratio']['median']:.3f}"]
        for model, row in read("fidelity_cost")["models"].items()
    ]  # fmt: skip


def _rows(model: str, states: Json) -> list[list[object]]:
    rows: list[list[object]] = []
    for name, state in states.items():
        ways = state["models"].get(model, {}).get(PART)
        if ways is not None:
            bare, repaired = ways["without"], ways["with repairs"]
            shares = [
                f"{percent(bare['all'][kind]['share'], 2)} → "
                f"{percent(repaired['all'][kind]['share'], 2)}"
                for kind in ("numbers", "verbatim")
            ]
            faults = [
                f"{bare['faults'][fault]} → {repaired['faults'][fault]}"
                for fault in (
                    "replacement characters",
                    "loops",
                    "invented numbers",
                    "markup broken",
                )
            ]
            rows.append([model, f"{bare['lines']:,}", name, *shares, *faults])
    return rows
