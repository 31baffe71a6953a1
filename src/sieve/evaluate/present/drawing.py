"""The only place that knows matplotlib: panels to draw on, saved to files or as SVG for a page.

On a page a colour is a variable of the page's style, so that a chart follows light and dark, and
whatever is drawn with `note` says its text when it is pointed at.
"""

import io
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sieve.errors import require
from sieve.files import whole_file

COLOURS = {
    "nvs": "#0072B2",  # these two are told apart by everyone, also in grey
    "lexicon": "#D55E00",
    "none": "#6B7177",
    "ink": "#1A1A1A",
    "soft": "#5C6166",
    "line": "#D9DDE1",
}
_EVERYWHERE = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "sieve",
}
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure with its panels, row by row, in matplotlib's own terms."""

    figure: Any
    panels: Sequence[Any]

    def save(self, path: Path) -> None:
        """Writes a file of the kind its name says; the same numbers give the same bytes."""
        kind = path.suffix.removeprefix(".")
        metadata = {"Date": None} if kind == "svg" else None
        with whole_file(path) as partial:
            self.figure.savefig(partial, format=kind, dpi=300, metadata=metadata)

    def as_svg(self, label: str, notes: Mapping[str, str]) -> str:
        """An element for a page.

        Args:
            label: Read aloud in place of the picture.
            notes: Text of what is drawn with the gid that is its key.
        """
        text = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        self.figure.savefig(text, format="svg", metadata=nothing, transparent=True)
        svg = ET.fromstring(text.getvalue())
        _simplify(svg, notes)
        size = {"viewBox": svg.attrib["viewBox"], "role": "img", "aria-label": label}
        svg.attrib.clear()
        svg.attrib.update(size)
        return ET.tostring(svg, encoding="unicode")


@contextmanager
def drawing(
    style: Mapping[str, Any], size: tuple[float, float], rows: int = 1, columns: int = 1
) -> Iterator[Drawing]:
    """Panels to draw on and save within the context, where the style holds; `size` in inches."""
    matplotlib, figures = need_matplotlib()
    with matplotlib.rc_context({**_EVERYWHERE, **style}):
        figure = figures.Figure(figsize=size, layout="constrained")
        yield Drawing(figure, list(figure.subplots(rows, columns, squeeze=False).flat))


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def need_matplotlib() -> tuple[Any, Any]:
    """The library and its figures, or an error that says how to install it: for before the work."""
    names = ("matplotlib", "matplotlib.figure")
    library, figures = (require(name, "evaluate", "a figure") for name in names)
    return library, figures


def _simplify(svg: ET.Element, notes: Mapping[str, str]) -> None:
    """Leaves out what only a file of its own needs: namespaces, styles, clips, names of groups."""
    for node in list(svg.iter()):
        for child in list(node):
            if child.tag in (f"{_SVG}style", f"{_SVG}clipPath"):
                node.remove(child)
        node.tag = str(node.tag).removeprefix(_SVG)
        node.text, node.tail = ((text or "").strip() or None for text in (node.text, node.tail))
        node.attrib.pop("clip-path", None)
        if "style" in node.attrib:
            node.attrib["style"] = _with_variables(node.attrib["style"])
        if _LINK in node.attrib:
            node.attrib["href"] = node.attrib.pop(_LINK)
        if node.tag == "g" and "id" in node.attrib:
            note = notes.get(node.attrib.pop("id"))
            if note is not None:
                title = ET.Element(f"{_SVG}title")
                title.text = note
                node.insert(0, title)
                title.tag = "title"


def _with_variables(style: str) -> str:
    for name, colour in COLOURS.items():
        style = style.replace(colour.lower(), f"var(--{name})")
    return style
