"""The outcome of a human evaluation as a table, laid out as the paper's."""

from pathlib import Path

from sieve.evaluate.human.human_score import HumanScore
from sieve.evaluate.present.text_table import Table


def human_table(score: HumanScore) -> Table:
    """The outcome as in the paper, each annotator's own beside it."""
    own = tuple(Path(name).stem for name in score.annotators)
    lines = tuple(
        (
            system.system,
            f"{system.rating:.2f}",
            "100" if system.p_value is None else system.normalized.shown(1),
            "-" if system.p_value is None else f"{system.p_value:.3f}",
            *(f"{value:.1f}" for value in system.by_annotator),
        )
        for system in score.systems
    )
    kinds = score.agreement
    parts = {"Krippendorff's α": kinds.alpha, "Pearson's r": kinds.pearson}
    shown = [f"{name} {_known(value)}" for name, value in parts.items()]
    shown.append(f"the same order of two systems {_known(kinds.order, 100, 0)} %")
    notes = [
        f"% of {score.baseline} ± half of the 95 % interval of a paired t-test over segments "
        "(ratings averaged over annotators), p of the same test",
        f"agreement of {len(own)} annotators: {', '.join(shown)}",
    ]
    if score.missing:
        notes.append(f"{score.missing} annotators' sheets were not given")
    title = f"{score.test}: {score.segments} segments rated from 1 to 6"
    headers = ("system", "rating", f"% of {score.baseline}", "p", *own)
    return Table(title, headers, lines, tuple(notes))


def _known(value: float | None, scale: float = 1, digits: int = 2) -> str:
    return "-" if value is None else f"{scale * value:.{digits}f}"
