"""The operating point of a finished model: a shift of the head's bias makes it one fixed λ.

λ and the weight of positives in training are one dial; users should not have to know where it
stands. On development data the log-odds are found at which sets hold as many words as wanted, and
all biases are moved by the same amount so that these log-odds belong to `threshold`. No other
weight changes, so translations without selection stay as they are, bit for bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sieve.bundle import CARD_FILE, open_bundle, write_bundle
from sieve.errors import ConfigError, ModelError
from sieve.evaluation.recall import Recall, RecallMeter
from sieve.inference.engine import Engine
from sieve.inference.options import SearchOptions
from sieve.selection.lexicon import LEXICON_FILE
from sieve.selection.selectors import FullVocabulary, log_odds
from sieve.text.vocabulary import EOS, IntArray

BIAS = "nvs.bias"
_BATCH = 64
_STEPS = 50  # set sizes tried up to the largest


@dataclass(frozen=True)
class CalibrationOptions:
    """What the operating point shall be."""

    threshold: float = 0.9
    """λ at which the model will stand."""
    size: int = 1000
    """Mean words of a set, at most."""
    recall: float = 1.0
    """Share of the model's own output words that must be in the sets: fewer words than `size` are
    taken where that is reached with fewer."""

    def __post_init__(self) -> None:
        if not 0.0 < self.threshold < 1.0:
            raise ConfigError(f"threshold: got {self.threshold}, expected above 0 and below 1")
        if self.size < 2:
            raise ConfigError(f"size: got {self.size}, expected at least 2 words (EOS is one)")
        if not 0.0 < self.recall <= 1.0:
            raise ConfigError(f"recall: got {self.recall}, expected above 0 and at most 1")


@dataclass(frozen=True)
class Calibration:
    """Where a model stands after its biases are shifted."""

    shift: float
    own: Recall
    """Of the words that the model itself writes without selection."""


def calibrate(
    engine: Engine[Any], src_ids: Sequence[IntArray], options: CalibrationOptions
) -> Calibration:
    """Finds the shift of the biases for an operating point.

    Args:
        engine: Of the model to calibrate.
        src_ids: Development sentences, with EOS.
        options: The operating point.
    """
    if not src_ids:
        raise ConfigError("no development sentences to calibrate on")
    if options.size >= engine.vocab_size:
        raise ModelError(
            f"sets of {options.size} of {engine.vocab_size} words select nothing; choose fewer"
        )
    sizes = sorted({max(2, options.size * step // _STEPS) for step in range(1, _STEPS + 1)})
    meter = RecallMeter(len(src_ids), engine.vocab_size, (), sizes)
    search = SearchOptions()
    order = sorted(range(len(src_ids)), key=lambda row: len(src_ids[row]))
    for start in range(0, len(order), _BATCH):
        batch = [src_ids[row] for row in order[start : start + _BATCH]]
        found = engine.translate(batch, FullVocabulary(), search)
        outputs = [hypotheses[0].tokens for hypotheses in found]
        meter.add(engine.bow_logits(engine.encode(batch)), outputs)
    points = meter.at_sizes()
    point = next((point for point in points if point.recall >= options.recall), points[-1])
    assert point.threshold is not None
    return Calibration(log_odds(options.threshold) - log_odds(point.threshold), point)


def shift_bias(model: Path, output: Path, shift: float, threshold: float) -> None:
    """Writes a model directory again, in any form, with its biases shifted.

    Args:
        model: The directory to read.
        output: The directory to make; may be the same.
        shift: What to add to every bias of the head.
        threshold: λ that becomes the model's default.
    """
    bundle = open_bundle(model)
    tensors = bundle.tensors()
    if BIAS not in tensors:
        raise ModelError(f"{model}: has no NVS head whose bias could be shifted")
    bias = tensors[BIAS]
    tensors[BIAS] = (bias.astype(np.float64) + shift).astype(bias.dtype)
    sections = bundle.sections("selection")
    sections["selection"] = {"threshold": threshold}
    copies = [path for name in (LEXICON_FILE, CARD_FILE) if (path := model / name).is_file()]
    write_bundle(output, sections, tensors, bundle.tokenizers(), copies)


def with_eos(sentences: Sequence[Sequence[int]]) -> list[IntArray]:
    """Source sentences as engines take them."""
    return [np.array([*ids, EOS]) for ids in sentences]
