"""The report's page and plots: well-formed, complete, and nothing in it but text and numbers."""

import re
import xml.etree.ElementTree as ET

import pytest
from pages import checked

from sieve.evaluate.present.charts import Axis, Bar, Line, Point, bar_chart, line_chart
from sieve.evaluate.present.text_table import Table
from sieve.evaluate.present.web import page, table_html

WORDS, RECALL = Axis("words", log=True), Axis("recall, %")


def svg(text: str) -> ET.Element:
    found = re.search(r"<svg.*</svg>", text, re.DOTALL)
    assert found
    return ET.fromstring(found[0])


def test_lines_lie_where_their_numbers_say() -> None:
    points = tuple(Point(x, y, f"{x} <words>") for x, y in ((10, 80), (100, 90), (1000, 100)))
    text = line_chart("a & b", [Line("NVS", "nvs", points)], WORDS, RECALL)
    root = svg(text)
    places = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in root.iter("circle")]
    (x1, y1), (x2, y2), (x3, y3) = places
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.11)  # a decade each
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.11) and y1 > y2 > y3
    labels = [node.text for node in root.iter("text")]
    assert {"10", "100", "1000", "80", "90", "NVS", "words", "recall, %"} <= set(labels)
    assert root.attrib["aria-label"] == "a & b"
    assert next(node.text for node in root.iter("title")) == "10 <words>"
    for x, y in places:
        assert 0 < x < 420 and 0 < y < 280


def test_an_axis_with_given_ends() -> None:
    unit = Axis("confidence", bounds=(0, 1))
    ideal = Line("ideal", "none", (Point(0, 0, ""), Point(1, 1, "")), dots=False)
    line = Line("NVS", "nvs", (Point(0.25, 0.5, "a"), Point(0.75, 1.0, "b")))
    root = svg(line_chart("t", [ideal, line], unit, unit))
    (x1, y1), (x2, y2) = (
        (float(c.attrib["cx"]), float(c.attrib["cy"])) for c in root.iter("circle")
    )
    corners = next(p.attrib["d"] for p in root.iter("path") if "stroke-dasharray" in p.attrib)
    left, bottom, right, top = map(float, corners[1:].replace("L", " ").split())
    assert x2 - x1 == pytest.approx((right - left) / 2, abs=0.11)
    assert (y2, y1) == pytest.approx((top, (top + bottom) / 2), abs=0.11)
    assert {"0", "0.2", "1"} <= {node.text for node in root.iter("text")}


@pytest.mark.parametrize("values", [[(5, 50)], [(5, 50), (5, 50)], [(1, 0), (1.01, 0.001)]])
def test_few_or_equal_points_can_be_drawn(values: list[tuple[float, float]]) -> None:
    line = Line("one", "nvs", tuple(Point(x, y, "") for x, y in values))
    root = svg(line_chart("t", [line], WORDS, RECALL))
    assert len(list(root.iter("circle"))) == len(values)
    assert "nan" not in ET.tostring(root, encoding="unicode")


def test_bars_are_as_long_as_their_values() -> None:
    bars = [Bar("none", 20.0, 1.0, "none", "n"), Bar("nvs:0.9", 10.0, 30.0, "nvs", "v")]
    root = svg(bar_chart("p90", bars, "ms"))
    first, second = root.iter("rect")
    assert float(first.attrib["width"]) == pytest.approx(2 * float(second.attrib["width"]), abs=0.2)
    start = float(second.attrib["x"])
    whiskers = [float(p.attrib["d"][1:].split()[0]) for p in root.iter("path")]
    assert min(whiskers) >= start  # an interval below nothing is not drawn


def test_whatever_a_table_holds_is_text() -> None:
    table = Table("<t>", ("a", "b"), (("<script>", "1 & 2"),), ('"note" <i>',))
    text = page("<title>", table_html(table))
    assert "script" not in checked(text).seen
    assert "&lt;script&gt;" in text and "1 &amp; 2" in text
