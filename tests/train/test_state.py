"""The run directory: what is kept, what goes, and what a killed session may leave behind."""

from pathlib import Path

import pytest
import torch

from sieve.errors import ModelError
from sieve.train.state import Progress, Ranked, RunDirectory, better


def test_the_best_are_kept_and_the_earlier_wins_a_tie() -> None:
    best: tuple[Ranked, ...] = ()
    for update, score in [(1, 9.0), (2, 7.0), (3, 8.0), (4, 7.0)]:
        best = better(best, score, update, keep=3)
    assert best == (Ranked(7.0, 2), Ranked(7.0, 4), Ranked(8.0, 3))


def test_a_state_comes_back(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    run.create()
    progress = Progress(update=7, epoch=1, epoch_update=3, seconds=1.5, best=(Ranked(2.0, 5),))
    tensors = {"model.w": torch.arange(3.0), "step.w": torch.tensor(7.0)}
    state = run.write_state(progress, tensors)
    found, arrays = run.read_state(state)
    assert found == progress
    assert arrays["step.w"].shape == ()
    assert torch.equal(arrays["model.w"], tensors["model.w"])


def test_older_states_and_scraps_go(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    run.create()
    run.write_state(Progress(update=1), {})
    (tmp_path / "run" / "state" / ".update-00000002.abc").mkdir()
    run.checkpoint(1).mkdir()
    run.checkpoint(2).mkdir()
    run.write_state(Progress(update=2, best=(Ranked(1.0, 2),)), {})
    assert [p.name for p in (tmp_path / "run" / "state").iterdir()] == ["update-00000002"]
    assert run.checkpoints() == [run.checkpoint(2)]
    assert (tmp_path / "run" / "best").resolve() == run.checkpoint(2).resolve()


def test_a_scrap_is_not_a_state(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    run.create()
    (tmp_path / "run" / "state" / ".update-00000002.abc").mkdir()
    assert run.newest_state() is None


def test_a_damaged_state_is_named(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    run.create()
    state = run.write_state(Progress(update=1), {})
    (state / "progress.json").write_text('{"update": "many"}')
    with pytest.raises(ModelError, match=r"progress\.json: damaged: progress\.update"):
        run.read_state(state)
    (state / "progress.json").write_text("{}")
    with pytest.raises(ModelError, match="its progress says update 0"):
        run.read_state(state)
