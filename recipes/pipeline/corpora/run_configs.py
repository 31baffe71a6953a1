"""The configurations of training runs: a recipe's settings and the corpora that are there."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.recipe import Recipe, Run
from pipeline.tools import write_lines

OWN = 3  # times a pair of the student's own outputs counts for the head


def student_data(recipe: Recipe, corpora: Path) -> dict[str, object]:
    """[data] of the student's run, also that of its second part (settle)."""
    counts = {path: repeats_for_student(recipe, path.name) for path in _corpora(corpora)}
    counts = {path: count for path, count in counts.items() if count}
    return {**_train(counts), "alignments": [f"{path}.align" for path in counts]}


def head_data(recipe: Recipe, corpora: Path, for_head: Path) -> dict[str, object]:
    """[data] of the run in which the head learns alone."""
    paths = sorted([*_corpora(corpora), *_corpora(for_head)], key=lambda path: path.name)
    own = {path.name.removeprefix("own.") for path in paths if path.name.startswith("own.")}
    counts = {path: repeats_for_head(recipe, path.name, own) for path in paths}
    return _train({path: count for path, count in counts.items() if count})


def repeats_for_student(recipe: Recipe, name: str) -> int:
    """How often a corpus counts in the student's training: 0 for what only the head sees.

    Of a group that is repeated N times, once goes to the references and the rest to the teacher.
    """
    kind, group = name.split(".")[:2]
    repeats = recipe.repeats.get(group, 1)
    if kind == "original":
        return int(repeats > 1)
    return {"distilled": max(1, repeats - 1), "copied": 1}.get(kind, 0)


def repeats_for_head(recipe: Recipe, name: str, own: set[str]) -> int:
    """How often a corpus counts in the head's training, 0 for not at all.

    What the student itself wrote counts most; where it wrote nothing its teacher's outputs stand
    for it. References of every second piece, and phrases, keep the head open for other words.
    """
    kind, group, piece = name.split(".")
    written = f"{group}.{piece}" in own
    weights = {
        "own": OWN,
        "distilled": int(not written),
        "original": int(written or int(piece) % 2 == 0),
        "fragments": 1,
    }
    return recipe.repeats.get(group, 1) * weights.get(kind, 0)


def write_run(path: Path, run: Run, data: Mapping[str, object]) -> None:
    """A file for `sieve train --config`."""
    lines: list[str] = []
    for name, values in (("model", run.model), ("training", run.training), ("data", data)):
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    write_lines(path, lines)


def _corpora(folder: Path) -> Sequence[Path]:
    return sorted(path.parent for path in folder.glob("*/corpus.json"))


def _train(counts: Mapping[Path, int]) -> dict[str, object]:
    return {"train": [str(path) for path in counts], "repeats": list(counts.values())}
