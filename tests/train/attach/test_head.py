"""Training of a head alone: its loss by hand, and that it finds a rule that is there."""

import numpy as np
import numpy.typing as npt
import pytest
import torch

from sieve.bundle.config import ModelConfig
from sieve.tokenize.vocabulary import OWN
from sieve.train.attach.head import HeadOptions, HeadProgress, seconds_per_line, train_head
from sieve.train.attach.held_out import HeldOut
from sieve.train.attach.labels import Labels

CONFIG = ModelConfig(src_vocab_size=120, tgt_vocab_size=120, d_model=16, heads=2, nvs_head="tied")


def rule(number: int, seed: int) -> Labels:
    """Each source position has a state of its own word w and needs the token w + 50."""
    rng = np.random.default_rng(seed)
    states_of = np.random.default_rng(0).normal(size=(40, 16))
    words = [rng.integers(0, 40, rng.integers(2, 6)) for _ in range(number)]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in words])])
    flat = np.concatenate(words)
    states: npt.NDArray[np.float16] = states_of[flat].astype(np.float16)
    return Labels(offsets, states, offsets, flat + 50)


@pytest.mark.parametrize("kind", ["tied", "full"])
def test_a_head_learns_what_each_position_needs(kind: str) -> None:
    config = ModelConfig(**{**vars(CONFIG), "nvs_head": kind})
    generator = torch.Generator().manual_seed(3)
    embedding = torch.randn(120, 16, generator=generator)
    told: list[HeadProgress] = []
    options = HeadOptions(minutes=2.0, size=8, batch=32, sampled=60, epochs=15, learning_rate=1e-2)
    state, best = train_head(
        config, embedding, [rule(1500, 1)], HeldOut(rule(200, 2), 8, OWN), options, told.append
    )
    assert told[-1].share == 1.0
    assert best.own > 0.98  # chance: 8 of 120 tokens
    assert best.reach > 0.9
    assert state["bias"].shape == (120,)


def test_the_best_state_is_kept_not_the_last() -> None:
    embedding = torch.randn(120, 16, generator=torch.Generator().manual_seed(3))
    told: list[HeadProgress] = []
    options = HeadOptions(minutes=2.0, size=8, batch=32, sampled=60, epochs=3)
    _, best = train_head(
        CONFIG, embedding, [rule(300, 1)], HeldOut(rule(100, 2), 8, OWN), options, told.append
    )
    assert (best.reach, best.own) == max((now.reach, now.own) for now in told)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("kind", ["tied", "full"])
def test_a_gpu_learns_the_same(kind: str) -> None:
    """Not the same bits, for products are in 16 bits there, but as much is in reach."""
    config = ModelConfig(**{**vars(CONFIG), "nvs_head": kind})
    embedding = torch.randn(120, 16, generator=torch.Generator().manual_seed(3))
    options = HeadOptions(minutes=2.0, size=8, batch=32, sampled=60, epochs=15, learning_rate=1e-2)
    reached = []
    for device in ("cpu", "cuda"):
        judge = HeldOut(rule(200, 2), 8, OWN)
        state, best = train_head(config, embedding.to(device), [rule(1500, 1)], judge, options)
        assert all(value.device.type == "cpu" for value in state.values())
        reached.append(best.own)
    assert reached[1] == pytest.approx(reached[0], abs=0.01)


def test_time_per_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve updates of 16 lines, after one that is not counted, in six seconds."""
    times = iter([10.0, 16.0])
    monkeypatch.setattr("sieve.train.attach.head.time.monotonic", lambda: next(times))
    embedding = torch.randn(120, 16, generator=torch.Generator().manual_seed(3))
    options = HeadOptions(sampled=60, batch=16)
    per_line = seconds_per_line(CONFIG, embedding, rule(64, 1), OWN, options)
    assert per_line == 6.0 / (12 * 16)
