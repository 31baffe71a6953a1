"""The picture of the README from attached_en_pt.json: unchanged outputs by size of the shortlists.

python benchmarks/readme_picture.py    # docs/pictures/selection.svg; measures nothing
"""

from pathlib import Path
from typing import Any

from sieve.evaluate.present.drawing import COLOURS, drawing
from sieve.files import read_json

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results" / "attached_en_pt.json"
PICTURE = ROOT / "docs" / "pictures" / "selection.svg"
SETS = {"newstest2019": "news (newstest2019)", "itds": "idioms (ITDS)"}
WAYS = {"head + shortlist": "head + shortlist", "head": "attached head"}


def curve(rows: dict[str, Any], way: str) -> list[tuple[float, float]]:
    """Mean size and share of unchanged outputs of a way, the smallest size first."""
    return sorted(
        (row["size"], row["equal"])
        for name, row in rows.items()
        if name.split(" at ")[0].split(", half")[0] == way and "threshold" not in name
    )


def main() -> None:
    sets = read_json(RESULTS)["sets"]
    style = {"font.family": "DejaVu Sans", "font.size": 9}
    with drawing(style, (7.2, 2.7), 1, len(SETS)) as figure:
        for panel, (name, title) in zip(figure.panels, SETS.items(), strict=True):
            for (way, label), line in zip(WAYS.items(), ("-", "--"), strict=True):
                points = curve(sets[name]["ways"], way)
                panel.plot(*zip(*points, strict=True), line, marker="o", ms=4, color=COLOURS["nvs"])
                panel.annotate(
                    label, points[-1], xytext=(-4, -17 if way == "head" else 5), ha="right",
                    textcoords="offset points", color=COLOURS["nvs"],
                )  # fmt: skip
            own = sets[name]["ways"]["shortlist"]
            place = own["size"], own["equal"]
            panel.plot(*place, "s", ms=6, color=COLOURS["lexicon"])
            panel.annotate(
                "the model's own shortlist", place, xytext=(8, -13), textcoords="offset points",
                color=COLOURS["lexicon"],
            )  # fmt: skip
            panel.set_title(title, loc="left")
            panel.set_xlabel("tokens a sentence may use, of 32,000")
            panel.set_ylim(74, 101)
            panel.set_xlim(380, 2120)
            panel.grid(axis="y", color=COLOURS["line"], linewidth=0.6)
        figure.panels[0].set_ylabel("outputs unchanged (%)")
        figure.save(PICTURE)


if __name__ == "__main__":
    main()
