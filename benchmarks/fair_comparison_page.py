"""The page of `fair_comparison.py`: a table for each set and one picture. Measures nothing."""

from pathlib import Path
from typing import Any

from sieve.evaluate.present.drawing import COLOURS, drawing
from sieve.files import whole_file

_COLUMNS = (
    ("size", "tokens", "{:,.0f}"),
    ("own recall", "own tokens", "{:.2f}"),
    ("own in reach", "outputs in reach", "{:.1f}"),
    ("reference recall", "reference tokens", "{:.2f}"),
    ("reference in reach", "references in reach", "{:.1f}"),
    ("equal, greedy", "equal, greedy", "{:.1f}"),
    ("equal, beam 5", "equal, beam 5", "{:.1f}"),
    ("BLEU, beam 5", "BLEU", "{:.2f}"),
    ("chrF, beam 5", "chrF", "{:.2f}"),
)
_BAR = 0.26  # inches


def write_page(path: Path, document: dict[str, Any]) -> None:
    """Writes PATH, a Markdown page, and beside it the picture, PATH with .svg for .md."""
    lines = [
        f"# Ways to select, compared fairly: {document['title']}",
        "",
        f"One frozen model of {document['vocabulary']:,} tokens, which no selection changes. All "
        "ways have shortlists of the same mean size, by one threshold for the whole set. *Own* is "
        "what the model writes over all tokens; *equal* is the share of sentences whose output is "
        "exactly that; *in reach* is the share of sentences none of whose tokens is missing. "
        f"BLEU and chrF are of beam 5. The bonus of tokens of the {document['shortlist']} in the "
        f"head's log-odds is {document['bonus']:g}. Percent, but for tokens and scores.",
        "",
        document["note"],
        "",
        f"`{document['command']}`",
        "",
        f"![Equal outputs by way]({path.stem}.svg)",
    ]
    for name, content in document["sets"].items():
        lines += ["", f"## {name}, {content['sentences']:,} sentences", ""]
        there = [column for column in _COLUMNS if column[0] in content["ways"]["all tokens"]]
        lines += ["| |" + "|".join(f" {label} " for _, label, _ in there) + "|"]
        lines += ["|---" * (len(there) + 1) + "|"]
        for way, row in content["ways"].items():
            cells = [form.format(row[key]) for key, _, form in there]
            lines.append(f"| {way} | " + " | ".join(cells) + " |")
        lines += ["", "Time of a sentence, beam 5, one thread, one sentence at a time, by real "]
        lines[-1] += "selectors of about that size (ratio to all tokens, its least and greatest):"
        lines += ["", "| | ms | ratio |", "|---|---|---|"]
        for way, row in content["latency"].items():
            least, most = row["ratios"]
            lines.append(
                f"| {way} | {row['ms']:.1f} | {row['ratio']:.2f} [{least:.2f}, {most:.2f}] |"
            )
    with whole_file(path) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")
    _draw(path.with_suffix(".svg"), document)


def _draw(path: Path, document: dict[str, Any]) -> None:
    """Equal outputs, greedy, a panel for each set."""
    sets = document["sets"]
    ways = [way for way in next(iter(sets.values()))["ways"] if way != "all tokens"]
    style = {"font.family": "DejaVu Sans", "font.size": 8}
    height = _BAR * len(ways) + 0.6
    with drawing(style, (2.6 * len(sets) + 1.4, height), 1, len(sets)) as figure:
        for panel, (name, content) in zip(figure.panels, sets.items(), strict=True):
            values = [content["ways"][way]["equal, greedy"] for way in ways]
            colours = [COLOURS["nvs" if "head" in way else "lexicon"] for way in ways]
            panel.barh(range(len(ways)), values, 0.7, color=colours)
            for place, value in enumerate(values):
                panel.annotate(
                    f"{value:.1f}", (value, place), xytext=(3, 0), textcoords="offset points",
                    va="center",
                )  # fmt: skip
            is_first = panel is figure.panels[0]
            panel.set_yticks(range(len(ways)), ways if is_first else [""] * len(ways))
            panel.set_ylim(len(ways) - 0.5, -0.5)
            panel.set_xlim(min(values) - 5, 102)
            panel.set_title(name)
            panel.set_xlabel("equal outputs (%)")
        figure.save(path)
