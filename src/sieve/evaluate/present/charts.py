"""Charts for pages: lines, and bars with intervals, as inline SVG.

Colours are named after variables of the page's style; every point shows its numbers when it is
pointed at. Knows neither what was measured nor how a page is built.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sieve.evaluate.present.drawing import COLOURS, drawing

_WIDTH, _HEIGHT = 420 / 72, 280 / 72  # inches: one of the SVG's units is a point
_BAR = 26 / 72
_LINES = ("-", (0, (6, 3)), (0, (2, 3)), (0, (8, 3, 2, 3)))
_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib; the page may show another
    "font.size": 11,
    "legend.fontsize": 11,
    "axes.edgecolor": COLOURS["soft"],
    "axes.labelcolor": COLOURS["soft"],
    "xtick.color": COLOURS["soft"],
    "ytick.color": COLOURS["soft"],
    "xtick.labelcolor": "black",  # the SVG's default, which the page's style replaces
    "ytick.labelcolor": "black",
    "grid.color": COLOURS["line"],
    "axes.axisbelow": True,
}


@dataclass(frozen=True)
class Chart:
    """A picture for a page."""

    title: str
    svg: str


@dataclass(frozen=True)
class Dot:
    """A place on a line and what it stands for."""

    x: float
    y: float
    note: str


@dataclass(frozen=True)
class Series:
    """A line through dots."""

    label: str
    colour: str
    """`nvs`, `lexicon` or `none`."""
    dots: tuple[Dot, ...]
    dash: int = 0
    shows_dots: bool = True


@dataclass(frozen=True)
class Axis:
    """What a direction stands for."""

    label: str
    log: bool = False
    bounds: tuple[float, float] | None = None
    """Where it begins and ends; by default a little beyond the dots."""


@dataclass(frozen=True)
class Bar:
    """A value with its interval."""

    label: str
    value: float
    interval: float
    colour: str
    note: str


def line_chart(title: str, lines: Sequence[Series], x: Axis, y: Axis) -> Chart:
    """Lines over logarithmic or plain axes."""
    notes: dict[str, str] = {}
    with drawing(_STYLE, (_WIDTH, _HEIGHT)) as figure:
        (panel,) = figure.panels
        for line in lines:
            panel.plot(
                [dot.x for dot in line.dots],
                [dot.y for dot in line.dots],
                color=COLOURS[line.colour],
                linestyle=_LINES[line.dash % len(_LINES)],
                linewidth=1.6,
                label=line.label,
            )
            for dot in line.dots if line.shows_dots else ():
                gid = f"dot-{len(notes)}"
                notes[gid] = dot.note
                panel.plot(
                    dot.x, dot.y, "o", color=COLOURS[line.colour], markersize=6.4, gid=gid,
                    markeredgewidth=0,
                )  # fmt: skip
        panel.margins(0.04, 0.06)
        _set_axis(panel, "x", x)
        _set_axis(panel, "y", y)
        panel.grid(linewidth=1)
        panel.legend(loc="lower right", handlelength=2)
        return Chart(title, figure.as_svg(title, notes))


def bar_chart(title: str, bars: Sequence[Bar], x_label: str) -> Chart:
    """Bars from 0, the first at the top, with their intervals."""
    notes: dict[str, str] = {}
    with drawing(_STYLE, (_WIDTH, _BAR * len(bars) + 46 / 72)) as figure:
        (panel,) = figure.panels
        for place, bar in enumerate(bars):
            gid = f"bar-{place}"
            notes[gid] = bar.note
            (box,) = panel.barh(place, bar.value, 0.7, color=COLOURS[bar.colour])
            box.set_gid(gid)
            start, end = max(0.0, bar.value - bar.interval), bar.value + bar.interval
            panel.plot([start, end], [place, place], color=COLOURS["ink"], linewidth=1.2)
            panel.annotate(
                f"{bar.value:.1f}", (end, place), xytext=(5, 0), textcoords="offset points",
                va="center",
            )  # fmt: skip
        panel.set_yticks(range(len(bars)), [bar.label for bar in bars])
        panel.tick_params(axis="y", length=0)
        panel.set_ylim(len(bars) - 0.5, -0.5)
        panel.set_xlim(0, 1.12 * max(bar.value + bar.interval for bar in bars) or 1.0)
        panel.set_xlabel(x_label)
        return Chart(title, figure.as_svg(title, notes))


def _set_axis(panel: Any, side: str, axis: Axis) -> None:
    panel.set(**{f"{side}label": axis.label})
    ticks = getattr(panel, f"{side}axis")
    if axis.log:
        panel.set(**{f"{side}scale": "log"})
        ticks.get_major_locator().set_params(subs=(1, 2, 5))
        panel.minorticks_off()
    ticks.set_major_formatter("{x:g}")
    if axis.bounds is not None:
        panel.set(**{f"{side}lim": axis.bounds})
