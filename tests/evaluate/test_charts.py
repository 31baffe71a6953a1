"""Charts of a page: what is drawn lies where its numbers say, in colours of the page's style."""

import re
import xml.etree.ElementTree as ET

import pytest

from sieve.evaluate.present.charts import Axis, Bar, Dot, Series, bar_chart, line_chart

pytest.importorskip("matplotlib")

SIZES, RECALL = Axis("tokens", log=True), Axis("recall, %")


def noted(svg: ET.Element) -> list[ET.Element]:
    """The groups that say something when they are pointed at, in the order drawn."""
    return [group for group in svg.iter("g") if group.find("title") is not None]


def places(svg: ET.Element) -> list[tuple[float, float]]:
    """Where the dots of lines are drawn."""
    marks = [group.find(".//use") for group in noted(svg)]
    return [(float(m.attrib["x"]), float(m.attrib["y"])) for m in marks if m is not None]


def texts(svg: ET.Element) -> set[str]:
    return {node.text or "" for node in svg.iter("text")}


def corners(path: ET.Element) -> list[tuple[float, float]]:
    numbers = list(map(float, re.findall(r"-?[\d.]+", path.attrib["d"])))
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_lines_lie_where_their_numbers_say() -> None:
    dots = tuple(Dot(x, y, f"{x} <tokens>") for x, y in ((10, 80), (100, 90), (1000, 100)))
    chart = line_chart("a & b", [Series("NVS", "nvs", dots)], SIZES, RECALL)
    assert chart.title == "a & b" and "a &amp; b" in chart.svg
    svg = ET.fromstring(chart.svg)
    (x1, y1), (x2, y2), (x3, y3) = places(svg)
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.11)  # a decade each
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.11) and y1 > y2 > y3
    assert {"10", "100", "1000", "80", "90", "NVS", "tokens", "recall, %"} <= texts(svg)
    assert svg.attrib["aria-label"] == "a & b"
    assert [group.findtext("title") for group in noted(svg)] == [dot.note for dot in dots]
    assert svg.attrib["viewBox"] == "0 0 420 280"
    for x, y in places(svg):
        assert 0 < x < 420 and 0 < y < 280


def test_a_chart_follows_the_pages_colours_and_needs_nothing_else() -> None:
    line = Series("one", "lexicon", (Dot(1, 2, "#d55e00"), Dot(2, 4, "")))
    bars = [Bar("none", 20.0, 1.0, "none", "n")]
    for chart in (line_chart("t", [line], SIZES, RECALL), bar_chart("t", bars, "ms")):
        styles = " ".join(re.findall(r'style="([^"]*)"', chart.svg))
        assert "var(--soft)" in styles and "#" not in styles.replace("#000000", "")
        assert "url(" not in chart.svg and "http" not in chart.svg and "<style" not in chart.svg
    svg = line_chart("t", [line], SIZES, RECALL).svg
    assert "stroke: var(--lexicon)" in svg and "<title>#d55e00</title>" in svg


def test_an_axis_with_given_ends() -> None:
    unit = Axis("confidence", bounds=(0, 1))
    ideal = Series("ideal", "none", (Dot(0, 0, ""), Dot(1, 1, "")), shows_dots=False)
    line = Series("NVS", "nvs", (Dot(0.25, 0.5, "a"), Dot(0.75, 1.0, "b")))
    svg = ET.fromstring(line_chart("t", [ideal, line], unit, unit).svg)
    (x1, y1), (x2, y2) = places(svg)
    first = next(p for p in svg.iter("path") if "stroke: var(--none)" in p.attrib.get("style", ""))
    (left, bottom), (right, top) = corners(first)
    assert x2 - x1 == pytest.approx((right - left) / 2, abs=0.11)
    assert (y2, y1) == pytest.approx((top, (top + bottom) / 2), abs=0.11)
    assert {"0", "0.2", "1"} <= texts(svg)


@pytest.mark.parametrize("values", [[(5, 50)], [(5, 50), (5, 50)], [(1, 0), (1.01, 0.001)]])
def test_few_or_equal_dots_can_be_drawn(values: list[tuple[float, float]]) -> None:
    line = Series("one", "nvs", tuple(Dot(x, y, "") for x, y in values))
    chart = line_chart("t", [line], SIZES, RECALL)
    assert len(places(ET.fromstring(chart.svg))) == len(values)
    assert "nan" not in chart.svg


def test_bars_are_as_long_as_their_values() -> None:
    bars = [Bar("none", 20.0, 1.0, "none", "n"), Bar("nvs:0.9", 10.0, 30.0, "nvs", "v")]
    svg = ET.fromstring(bar_chart("p90", bars, "ms").svg)
    spans = []
    for group in noted(svg):
        path = group.find("path")
        assert path is not None
        xs = [x for x, _ in corners(path)]
        spans.append((min(xs), max(xs)))
    (start, first), (also_start, second) = spans
    assert start == also_start and first - start == pytest.approx(2 * (second - start), abs=0.2)
    whiskers = [p for p in svg.iter("path") if "stroke: var(--ink)" in p.attrib.get("style", "")]
    assert len(whiskers) == 2
    # an interval below nothing is not drawn
    assert min(x for p in whiskers for x, _ in corners(p)) == pytest.approx(start, abs=0.01)
    assert {"none", "nvs:0.9", "20.0", "10.0", "ms"} <= texts(svg)
