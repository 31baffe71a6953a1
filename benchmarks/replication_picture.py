"""Figures 3 and 4 of the paper in ours: recall against size, and what adaptation changes."""

from pathlib import Path
from typing import Any

from results_common import read
from sieve.evaluate.present.drawing import COLOURS, drawing

ADAPTED = "idioms_paper_whole_en_de"
SCOPES = (("sentence", "our idioms, sentences"), ("idiom (b)", "our idioms, idiom tokens"))
NAMES = {"nvs": "NVS", "lexicon": "lexicon"}
LEAST, MOST = 250, 8000  # tokens that the axes show
TICKS = (300, 1000, 3000)


def draw(path: Path) -> None:
    """Writes the picture."""
    style = {"font.family": "DejaVu Sans", "font.size": 8}
    with drawing(style, (8.4, 2.6), 1, 3) as figure:
        news, *idioms = figure.panels
        _news(news)
        for panel, (scope, title) in zip(idioms, SCOPES, strict=True):
            _idioms(panel, scope, title)
        for panel in figure.panels:
            panel.set_xscale("log")
            panel.minorticks_off()
            panel.set_xticks(TICKS, [f"{tick:,}" for tick in TICKS])
            panel.set_xlim(LEAST, MOST)
            panel.set_xlabel("mean shortlist, tokens")
            panel.legend(loc="lower right", fontsize=6)
        news.set_ylabel("recall of reference tokens (%)")
        figure.save(path)


def _news(panel: Any) -> None:
    rows = [row for row in read("curves_en_de")["against"] if row["test"] == "newstest2019"]
    for name, line in (("counts", "-"), ("probability", "--")):
        here = [row for row in rows if row["lexicon"] == name]
        sizes = [row["mean_size"] for row in here]
        recalls = [100 * row["lexicon_recall"] for row in here]
        panel.plot(sizes, recalls, line, color=COLOURS["lexicon"], label=f"lexicon by {name}")
        if name == "counts":
            recalls = [100 * row["nvs_recall"] for row in here]
            panel.plot(sizes, recalls, "-", color=COLOURS["nvs"], label="NVS")
    panel.set_ylim(93, 100.2)
    panel.set_title("newstest2019")


def _idioms(panel: Any, scope: str, title: str) -> None:
    for curve in read(ADAPTED)["adaptation_curves"]:
        if curve["scope"] != scope or curve["test"] != "test":
            continue
        line = "-" if curve["state"] == "after" else "--"
        points = sorted((size, 100 * recall) for _, recall, size in curve["points"])
        label = f"{NAMES[curve['method']]}, {curve['state']}"
        panel.plot(*zip(*points, strict=True), line, color=COLOURS[curve["method"]], label=label)
    panel.set_ylim(70 if scope != "sentence" else 85, 100.5)
    panel.set_title(title)
