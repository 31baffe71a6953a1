"""Plots as inline SVG: lines, and bars with intervals.

Colours are the page's own variables, so that a plot follows light and dark; every point says its
numbers when it is pointed at. Nothing is drawn with a library: a page must not need one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 420, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 44
_DASHES = ("", "6 3", "2 3", "8 3 2 3")


@dataclass(frozen=True)
class Point:
    """A place on a line and what it stands for."""

    x: float
    y: float
    note: str


@dataclass(frozen=True)
class Line:
    """One curve."""

    label: str
    colour: str
    """A variable of the page's style: `nvs`, `lexicon` or `none`."""
    points: tuple[Point, ...]
    dash: int = 0
    dots: bool = True


@dataclass(frozen=True)
class Axis:
    """What a direction stands for."""

    label: str
    log: bool = False
    bounds: tuple[float, float] | None = None
    """Where it begins and ends; by default a little beyond the points."""


@dataclass(frozen=True)
class Bar:
    """A value with its interval."""

    label: str
    value: float
    interval: float
    colour: str
    note: str


def line_chart(title: str, lines: Sequence[Line], x: Axis, y: Axis) -> str:
    """Lines over a logarithmic or plain axis."""
    points = [point for line in lines for point in line.points]
    across = _Scale.of(x, [point.x for point in points], 0.04)
    up = _Scale.of(y, [point.y for point in points], 0.06)

    def place_x(value: float) -> float:
        return _LEFT + across.share(value) * (WIDTH - _LEFT - _RIGHT)

    def place_y(value: float) -> float:
        return HEIGHT - _BOTTOM - up.share(value) * (HEIGHT - _TOP - _BOTTOM)

    parts = [_axes(x.label, y.label)]
    for value in across.ticks():
        parts.append(_tick(place_x(value), HEIGHT - _BOTTOM, f"{value:g}", vertical=True))
    for value in up.ticks():
        parts.append(_tick(_LEFT, place_y(value), f"{value:g}", vertical=False))
    for line in lines:
        parts.append(_curve(line, [(place_x(p.x), place_y(p.y)) for p in line.points]))
    parts.append(_legend(lines))
    return _figure(title, HEIGHT, parts)


def bar_chart(title: str, bars: Sequence[Bar], x_label: str) -> str:
    """Bars from 0, one below the other, with their intervals."""
    step, label_width = 26, 8 + 7 * max(len(bar.label) for bar in bars)
    height = _TOP + step * len(bars) + 34
    most = max(bar.value + bar.interval for bar in bars) or 1.0
    scale = (WIDTH - label_width - 60) / most
    parts = []
    for number, bar in enumerate(bars):
        y = _TOP + step * number
        end = label_width + bar.value * scale
        half = bar.interval * scale
        start = max(label_width, end - half)  # nothing takes less than no time
        middle = y + (step - 8) / 2
        parts.append(
            f'<text x="{label_width - 6}" y="{middle + 4:.1f}" text-anchor="end">'
            f"{escape(bar.label)}</text>"
            f'<rect x="{label_width}" y="{y}" width="{bar.value * scale:.1f}" height="{step - 8}" '
            f'fill="var(--{bar.colour})"><title>{escape(bar.note)}</title></rect>'
            f'<path class="axis" fill="none" d="M{start:.1f} {middle}H{end + half:.1f}"/>'
            f'<text x="{end + half + 5:.1f}" y="{middle + 4:.1f}">{bar.value:.1f}</text>'
        )
    middle_x = label_width + (WIDTH - label_width) / 2
    parts.append(
        f'<text class="soft-text" x="{middle_x}" y="{height - 8}" text-anchor="middle">'
        f"{escape(x_label)}</text>"
    )
    return _figure(title, height, parts)


@dataclass(frozen=True)
class _Scale:
    """An axis whose ends are known, as logarithms where it is logarithmic."""

    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, axis: Axis, values: Sequence[float], margin: float) -> "_Scale":
        if axis.bounds is None:
            low, high = _padded([_scaled(value, axis.log) for value in values], margin)
        else:
            low, high = (_scaled(value, axis.log) for value in axis.bounds)
        return cls(low, high, axis.log)

    def share(self, value: float) -> float:
        """How far along the axis a value lies, 0 to 1."""
        return (_scaled(value, self.log) - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        return (_log_ticks if self.log else _ticks)(self.low, self.high)


def _scaled(value: float, log: bool) -> float:
    return math.log10(max(value, 1e-9)) if log else value


def _figure(title: str, height: int, parts: Sequence[str]) -> str:
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg></figure>"
    )


def _curve(line: Line, places: Sequence[tuple[float, float]]) -> str:
    colour = f"var(--{line.colour})"
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}">'
        f"<title>{escape(point.note)}</title></circle>"
        for point, (x, y) in zip(line.points, places, strict=True)
        if line.dots
    )
    dash = _DASHES[line.dash % len(_DASHES)]
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6" '
        f'stroke-dasharray="{dash}"/>{dots}'
    )


def _axes(x_label: str, y_label: str) -> str:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    middle = (_LEFT + right) / 2
    return (
        f'<path class="axis" fill="none" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>'
        f'<text class="soft-text" x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(x_label)}</text>"
        f'<text class="soft-text" transform="translate(12 {(_TOP + bottom) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(y_label)}</text>'
    )


def _tick(x: float, y: float, label: str, *, vertical: bool) -> str:
    if vertical:
        line = f'<path class="grid" d="M{x:.1f} {_TOP}V{y:.1f}"/>'
        return f'{line}<text x="{x:.1f}" y="{y + 14:.1f}" text-anchor="middle">{label}</text>'
    line = f'<path class="grid" d="M{x} {y:.1f}H{WIDTH - _RIGHT}"/>'
    return f'{line}<text x="{x - 5}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'


def _legend(lines: Sequence[Line]) -> str:
    parts = []
    for number, line in enumerate(lines):
        y = HEIGHT - _BOTTOM - 12 - 15 * (len(lines) - 1 - number)
        x = WIDTH - _RIGHT - 4
        parts.append(
            f'<text x="{x - 28}" y="{y + 4}" text-anchor="end">{escape(line.label)}</text>'
            f'<path d="M{x - 22} {y}H{x}" stroke="var(--{line.colour})" stroke-width="2" '
            f'stroke-dasharray="{_DASHES[line.dash % len(_DASHES)]}"/>'
        )
    return "".join(parts)


def _padded(values: Sequence[float], share: float) -> tuple[float, float]:
    low, high = min(values), max(values)
    gap = (high - low) * share or 0.5
    return low - gap, high + gap


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 10, 100 … between; also 2 and 5 times these where there are few."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5)):
        found = [f * 10.0**p for p in powers for f in factors if low <= math.log10(f) + p <= high]
        if len(found) >= 3:
            break
    return found


def _ticks(low: float, high: float) -> list[float]:
    """Four to nine round values between."""
    step = 10.0 ** math.floor(math.log10(high - low))
    for factor in (1.0, 0.5, 0.2):
        if (high - low) / (step * factor) >= 4:
            break
    size = step * factor
    first = math.ceil(low / size)
    return [round(n * size, 6) for n in range(first, math.floor(high / size) + 1)]
