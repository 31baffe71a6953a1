"""Figures fit to print: recall against mean shortlist size. Knows no page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sieve.evaluate.measure.curve import Curve
from sieve.evaluate.present.drawing import COLOURS, drawing

_LABELS = {"nvs": "NVS", "lexicon": "lexicon"}
_MARKERS = {"nvs": "o", "lexicon": "s"}
_LINES = ("-", "--", ":", "-.")
_NAMED = {"nvs": (0.99, 0.9, 0.5), "lexicon": (200, 1000)}
_STYLE = {"font.family": "serif", "font.size": 8, "axes.titlesize": 8}


def draw_curves(curves: Sequence[Curve], stem: Path) -> list[Path]:
    """Recall against mean shortlist size, a panel for each set and scope: STEM.png and STEM.svg."""
    panels = list(dict.fromkeys((curve.test, curve.scope) for curve in curves))
    models = list(dict.fromkeys(curve.model for curve in curves))
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    with drawing(_STYLE, (2.3 * columns, 1.9 * rows), rows, columns) as figure:
        for axis, (test, scope) in zip(figure.panels, panels, strict=False):
            here = [curve for curve in curves if (curve.test, curve.scope) == (test, scope)]
            _draw_panel(axis, here, models)
        for axis in figure.panels[len(panels) :]:
            axis.set_visible(False)
        for axis in figure.panels[::columns]:
            axis.set_ylabel("recall (%)")
        figure.panels[0].legend(loc="lower right", handlelength=2.4)
        paths = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "svg")]
        for path in paths:
            figure.save(path)
    return paths


def _draw_panel(axis: Any, curves: Sequence[Curve], models: Sequence[str]) -> None:
    for curve in curves:
        sizes = [point.mean_size for point in curve.points]
        recalls = [100 * point.recall for point in curve.points]
        label = _LABELS[curve.method]
        if len(models) > 1:
            label += f", {Path(curve.model).name}"
        axis.plot(
            sizes,
            recalls,
            color=COLOURS[curve.method],
            linestyle=_LINES[models.index(curve.model) % len(_LINES)],
            marker=_MARKERS[curve.method],
            markersize=2.5,
            linewidth=1,
            label=label,
        )
        if len(models) == 1:
            _name_points(axis, curve)
    axis.set_xscale("log")
    axis.set_title(f"{curves[0].test}, {curves[0].scope}")
    axis.set_xlabel("mean shortlist size (tokens)")
    axis.margins(x=0.08, y=0.12)
    axis.grid(color="0.9", linewidth=0.5)


def _name_points(axis: Any, curve: Curve) -> None:
    letter = "λ" if curve.method == "nvs" else "k"
    for point in curve.points:
        # to the right where the axis stands at the left, or the other curve above
        right = curve.method == "lexicon" or point == curve.points[0]
        if point.setting in _NAMED[curve.method]:
            axis.annotate(
                f"{letter}={point.setting:g}",
                (point.mean_size, 100 * point.recall),
                textcoords="offset points",
                xytext=(4, -5) if right else (-3, 3),
                ha="left" if right else "right",
                fontsize=6,
                color=COLOURS[curve.method],
            )
