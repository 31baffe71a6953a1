"""How much of what a model writes is in reach at each shortlist size: points, JSON, a picture."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sieve.engines.engine import Engine
from sieve.evaluate.measure.recall import RecallMeter
from sieve.evaluate.present.drawing import COLOURS, can_draw, drawing
from sieve.files import write_json
from sieve.selection.bonus import Bonuses, with_bonuses
from sieve.tokenize.vocabulary import IntArray

CURVE_FILE = "reach.json"
_PICTURE = "reach.svg"
_SHARES = (1 / 256, 1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)  # of the vocabulary
_BATCH = 32


@dataclass(frozen=True)
class ReachPoint:
    """Shortlists of one mean size."""

    size: float
    own: float
    """Share of a sentence's own tokens in its shortlist, averaged over sentences."""
    reach: float
    """Share of the sentences none of whose tokens is missing: their greedy output is untouched."""


def reach_curve(
    engine: Engine[Any],
    src_ids: Sequence[IntArray],
    written: Sequence[IntArray],
    size: int,
    bonuses: Bonuses | None,
) -> list[ReachPoint]:
    """Points at shares of the vocabulary, and at a size of special interest.

    Args:
        engine: Of a model with a head.
        src_ids: Sentences with EOS.
        written: What the model writes for each without selection.
        size: Of special interest.
        bonuses: Of a lexicon; None for the head alone.
    """
    V = engine.vocab_size
    sizes = sorted({size, *(max(2, round(share * V)) for share in _SHARES)})
    meter = RecallMeter(len(src_ids), V, (), sizes, engine.specials)
    order = sorted(range(len(src_ids)), key=lambda row: len(src_ids[row]))
    for start in range(0, len(order), _BATCH):
        rows = order[start : start + _BATCH]
        batch = [src_ids[row] for row in rows]
        logits = engine.bow_logits(engine.encode(batch))
        logits = with_bonuses(logits, () if bonuses is None else bonuses(batch))
        meter.add(logits, [written[row] for row in rows])
    points = zip(meter.at_sizes(), meter.in_reach(), strict=True)
    return [ReachPoint(round(p.mean_size, 1), round(p.recall, 5), round(r, 4)) for p, r in points]


def write_curves(
    directory: Path, curves: dict[str, list[ReachPoint]], about: dict[str, Any]
) -> None:
    """Writes reach.json into a directory, and a picture where one can be drawn."""
    points = {label: [asdict(point) for point in curve] for label, curve in curves.items()}
    write_json(directory / CURVE_FILE, {**about, "curves": points})
    if not can_draw():
        return
    with drawing({"font.family": "DejaVu Sans", "font.size": 9}, (5, 3.4)) as figure:
        (panel,) = figure.panels
        for label, curve in curves.items():
            colour = COLOURS["nvs" if label == "head" else "lexicon"]
            sizes = [point.size for point in curve]
            panel.plot(sizes, [100 * p.reach for p in curve], "o-", color=colour, label=label)
        panel.set_xscale("log")
        panel.set_xlabel("mean shortlist size (tokens)")
        panel.set_ylabel("sentences wholly in reach (%)")
        panel.grid(color="0.9", linewidth=0.5)
        panel.legend(loc="lower right")
        figure.save(directory / _PICTURE)
