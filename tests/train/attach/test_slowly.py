"""A head for a model that was trained here: what it reaches after seconds of learning."""

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sieve
from sieve.files import read_json
from sieve.train.attach.attach import attach
from sieve.train.attach.attach_options import AttachOptions
from sieve.train.attach.head import HeadOptions
from sieve.train.attach.source_text import SourceText
from sieve.train.calibrate import CalibrationOptions
from sieve.train.session import train

SIZE = 40
"""Of some 400 tokens; a sentence needs about eight."""
LINES = 3000


@pytest.mark.slow
def test_a_head_finds_what_a_trained_model_writes(
    tmp_path: Path, toy_settings: dict[str, Any]
) -> None:
    """On sentences that neither saw: recall of own tokens, whole sentences, equal outputs."""
    toy_settings["model"] |= {"d_model": 64, "d_ff": 128, "nvs_head": "none"}
    toy_settings["training"] |= {"max_updates": 1200, "warmup": 100, "validate_every": 600}
    toy_settings["training"]["checkpoint_every"] = 600
    assert train(tmp_path / "run", toy_settings) == 0
    model, output = tmp_path / "run" / "model", tmp_path / "selecting"
    rng = random.Random(11)
    seen = Path(toy_settings["data"]["valid_src"]).read_text().split()
    words = sorted(set(seen))
    drawn = (" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in itertools.count())
    lines = list(dict.fromkeys(itertools.islice(drawn, 2 * LINES)))[: LINES + 200]
    text = tmp_path / "text.xx"
    text.write_text("".join(f"{line}\n" for line in lines[:LINES]))
    options = AttachOptions(
        minutes=1.0,
        development=200,
        training=HeadOptions(size=SIZE, sampled=200, batch=32),
        calibration=CalibrationOptions(size=SIZE),
    )
    attached = attach(model, output, SourceText((text,)), options)
    assert attached.progress.own > 0.995
    assert attached.progress.reach > 0.97
    points = read_json(output / "reach.json")["curves"]["head"]
    (point,) = [point for point in points if point["size"] == pytest.approx(SIZE, abs=0.5)]
    assert point["own"] > 0.995
    translator = sieve.load(output)
    every, chosen = (
        translator.translate(lines[LINES:], selection=way, beam_size=1, repair=False)
        for way in ("none", "nvs")
    )  # a repair may search all tokens, where a toy model repeats itself
    same = [one.text == other.text for one, other in zip(every, chosen, strict=True)]
    assert np.mean(same) > 0.97
    assert np.mean([one.shortlist_size for one in chosen]) < 1.2 * SIZE
