"""The board's page and its picture. Measures nothing."""

from pathlib import Path
from typing import Any

from results_common import table
from sieve.evaluate.present.drawing import COLOURS, drawing
from sieve.files import whole_file

_HEADERS = (
    *(
        "",
        "p50 ms",
        "p90",
        "p99",
        "mean, times Sieve",
        "many lines at once",
        "tokens to choose from",
    ),
    *("BLEU, chrF", "peak memory, also with many lines (MB)", "weights (MB)"),
)
_BUSY = 1.0
_BAR = 0.24  # inches


def write_page(path: Path, document: dict[str, Any]) -> None:
    """Writes PATH, a Markdown page, and beside it the picture, PATH with .svg for .md."""
    machine = document["machine"]
    loads = [_load(model, document) for model in document["models"]]
    busy = max(loads, default=0.0) > _BUSY
    lines = [
        "# The latency board",
        "",
        "Engines side by side: one core, one thread, one sentence at a time, and many lines at "
        "once. `make board` installs the engines, measures, and writes this page and "
        "`results/board.json`; what cannot be had is left out and named. Each engine is a process "
        "of its own; they take turns of a few sentences in an order that changes, and the first "
        "sentence of a turn is not counted. Brackets hold 95 % intervals of a paired bootstrap.",
        "",
        f"{machine['cpu']}, {machine['cores']} cores; `{document['command']}`",
        "",
        *(["The machine was busy: only the ratios say something.", ""] if busy else []),
        f"![Median time of a sentence by engine]({path.stem}.svg)",
    ]
    for model in document["models"]:
        load = f" Load of the machine: {_load(model, document):.1f}."
        lines += ["", f"## {model['model']}", "", _about(model) + load, ""]
        rows = [_row(name, row) for name, row in model["engines"].items()]
        lines += table(_HEADERS, rows)
        for name, reason in model.get("left_out", {}).items():
            lines += ["", f"Left out: {name} ({reason})."]
    with whole_file(path) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")
    _draw(path.with_suffix(".svg"), document["models"])


def _load(model: dict[str, Any], document: dict[str, Any]) -> float:
    """Of the machine when a model was measured."""
    load: float = model.get("machine", document["machine"])["load_average"][0]
    return load


def _about(model: dict[str, Any]) -> str:
    if "bulk_lines" in model:
        return (
            f"Greedy, from text to text, the first {model['sentences']:,} lines of newstest2019 "
            f"or, from Portuguese, of NTREX-128; many lines: {model['bulk_lines']:,}, source words "
            "a second in the best of the batches tried. int8 unless said otherwise."
        )
    return (
        f"Beam 5, {model['sentences']:,} sentences of 30 tokens in and, forced, 30 out, 32,000 "
        "tokens; many lines: output tokens a second in CTranslate2's best setting and ours. "
        "CTranslate2 has a self-attention decoder, the others an SSRU. int8."
    )


def _row(name: str, row: dict[str, Any]) -> tuple[str, ...]:
    ratio = row["times_ours"]
    low, high = ratio["mean_ci95"]
    bulk = row.get("bulk", {})
    speed = bulk.get("words_per_second") or bulk.get("tokens_per_second")
    more = f", {bulk['peak_mb']:.0f}" if "peak_mb" in bulk else ""
    return (
        name,
        *(f"{row[key]:.1f}" for key in ("p50", "p90", "p99")),
        f"{ratio['mean']:.2f} [{low:.2f}, {high:.2f}]",
        f"{speed:,.0f}" if speed else "",
        f"{row['set']:,}" if row["set"] else "",
        f"{row['bleu']:.2f}, {row['chrf']:.2f}" if "bleu" in row else "",
        f"{row['peak_mb']:.0f}{more}",
        f"{row['file_mb']:.1f}",
    )


def _draw(path: Path, models: list[dict[str, Any]]) -> None:
    """A bar for the median, lines to the 90th and 99th percentile, a panel for each model."""
    style = {"font.family": "DejaVu Sans", "font.size": 8}
    height = sum(_BAR * len(model["engines"]) + 0.75 for model in models)
    with drawing(style, (7.2, height), len(models)) as figure:
        for panel, model in zip(figure.panels, models, strict=True):
            rows = model["engines"]
            for place, row in enumerate(rows.values()):
                panel.plot([row["p50"], row["p99"]], [place] * 2, color=COLOURS["line"], lw=1)
                panel.plot([row["p50"], row["p90"]], [place] * 2, color=COLOURS["soft"], lw=2)
            colours = [COLOURS["nvs" if "Sieve" in name else "none"] for name in rows]
            values = [row["p50"] for row in rows.values()]
            panel.barh(range(len(rows)), values, 0.7, color=colours)
            for place, row in enumerate(rows.values()):
                panel.annotate(
                    f"{row['p50']:.1f}", (row["p99"], place), xytext=(4, 0),
                    textcoords="offset points", va="center",
                )  # fmt: skip
            panel.set_yticks(range(len(rows)), list(rows))
            panel.set_ylim(len(rows) - 0.5, -0.5)
            panel.set_xlim(0, 1.12 * max(row["p99"] for row in rows.values()))
            panel.set_title(model["model"], loc="left")
        figure.panels[-1].set_xlabel("ms a sentence: median, 90th and 99th percentile")
        figure.save(path)
