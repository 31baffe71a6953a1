"""A selection head's products in low rank, from the states that text gives: no training.

Of all products of rank r, those that differ least from the head's own on that text. Knows no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.bundle.config import ModelConfig, Words
from sieve.bundle.directory import Bundle, open_bundle, write_bundle
from sieve.bundle.quantization import quantize
from sieve.bundle.weights import float_tensors, model_config, stored_parameters
from sieve.config import to_dict
from sieve.engines.native.native_engine import NativeEngine
from sieve.errors import ConfigError, InputError, ModelError
from sieve.files import Tensors
from sieve.selection.selectors import log_odds
from sieve.tokenize.vocabulary import IntArray
from sieve.train.calibrate import Calibration, apply, calibrate_as
from sieve.translate.load import selection_resources

_BATCH = 64
_SEED = 1
_DEPTHS = np.arange(0, 20, 0.01)
"""Below the threshold, in log-odds: where a slack is looked for."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class FactorOptions:
    """Which factored head is wanted."""

    rank: int = 64
    """r."""
    second_look: float = 1.5
    """Tokens that the first look leaves for the second one, for each that the exact head selects;
    0: no second look."""

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise ConfigError(f"rank: got {self.rank}, expected 1 or more")
        if self.second_look != 0 and not 1 <= self.second_look <= 100:
            raise ConfigError(f"second look: got {self.second_look:g}, expected 1 to 100, or 0")


@dataclass(frozen=True)
class Factored:
    """What came out."""

    config: ModelConfig
    calibration: Calibration | None
    """Of a model that was calibrated before."""


def factor_head(
    model: Path, output: Path, src_ids: Sequence[IntArray], options: FactorOptions
) -> Factored:
    """Writes a model directory again, in any form, with its head factored; nothing is trained.

    A calibrated model is calibrated again, so that its sets are as large as before.

    Args:
        model: The directory to read; it stays.
        output: The directory to make.
        src_ids: Sentences, with EOS, whose states show where products matter.
        options: Which head.
    """
    bundle = open_bundle(model)
    config = model_config(bundle)
    if config.nvs_head == "none":
        raise ModelError(f"{model}: has no selection head to factor; sieve attach makes one")
    if not src_ids:
        raise InputError("no sentences to factor the head by")
    words: Words = "output" if config.head_is_tied else "own"
    exact = replace(config, nvs_head="tied" if config.head_is_tied else "full", nvs_slack=None)
    rank = min(options.rank, config.d_model)
    low = replace(exact, nvs_head="factored", nvs_words=words, nvs_rank=rank)
    stored = {k: v for k, v in stored_parameters(bundle).items() if ".factors." not in k}
    engine = _engine(bundle, exact, stored)
    batches = [src_ids[at : at + _BATCH] for at in range(0, len(src_ids), _BATCH)]
    memory = np.concatenate([engine.source_states(engine.encode(batch)) for batch in batches])
    tensors = float_tensors(bundle)
    factors = best_factors(
        head_rows(config, tensors), head_states(config, tensors, memory), low.nvs_rank
    )
    stored |= quantize(factors, str(model)) if bundle.is_int8 else _like(factors, stored)
    if options.second_look:
        threshold = selection_resources(bundle).need_threshold()
        slack = _slack(
            engine, _engine(bundle, low, stored), batches, log_odds(threshold), options.second_look
        )
        low = replace(low, nvs_slack=round(slack, 3))
    sections = bundle.sections()
    sections["model"] = to_dict(low)
    calibration = None
    if "calibration" in bundle.config.get("selection", {}):
        calibration = calibrate_as(bundle, _engine(bundle, low, stored), src_ids)
        apply(calibration, stored, sections)
    write_bundle(output, sections, stored, bundle.tokenizers(), bundle.optional_files())
    return Factored(low, calibration)


def _engine(bundle: Bundle, config: ModelConfig, stored: Tensors) -> NativeEngine:
    if not bundle.is_int8:
        stored = {name: np.asarray(array, np.float32) for name, array in stored.items()}
    return NativeEngine(config, stored, int8=bundle.is_int8)


def _like(factors: Mapping[str, Floats], stored: Tensors) -> dict[str, npt.NDArray[Any]]:
    """In the precision of the other weights."""
    dtype = next(iter(stored.values())).dtype
    return {name: array.astype(dtype) for name, array in factors.items()}


def _slack(
    exact: NativeEngine,
    low: NativeEngine,
    batches: Sequence[Sequence[IntArray]],
    cut: float,
    times: float,
) -> float:
    """How far below the cut the first look leaves so many times more than the head selects."""
    chosen, histogram = 0, np.zeros(len(_DEPTHS) + 1, np.int64)
    for batch in batches:
        chosen += int((exact.bow_logits(exact.encode(batch)) > cut).sum())
        depths = cut - low.bow_logits(low.encode(batch))
        histogram += np.bincount(np.digitize(depths.ravel(), _DEPTHS), minlength=len(histogram))
    reached = np.cumsum(histogram)[:-1] >= times * chosen
    return float(_DEPTHS[int(reached.argmax())]) if reached.any() else float(_DEPTHS[-1])


def head_states(config: ModelConfig, tensors: Tensors, memory: Floats) -> Floats:
    """What the rows of tokens are multiplied with, (N, D), from the encoder's states (N, D)."""
    if not config.head_is_tied:
        return memory
    hidden = memory @ tensors["nvs.hidden.weight"].T + tensors["nvs.hidden.bias"]
    out: Floats = np.maximum(hidden, 0) @ tensors["nvs.out.weight"].T + tensors["nvs.out.bias"]
    return out


def head_rows(config: ModelConfig, tensors: Tensors) -> Floats:
    """The rows of tokens (V, D)."""
    if not config.head_is_tied:
        return tensors["nvs.weight"]
    return tensors["output.weight" if config.tie == "none" else "tgt_embedding.weight"]


def best_factors(rows: Floats, states: Floats, rank: int) -> dict[str, Floats]:
    """Of rows W and states x: T and P with the least mean of |W x − W Tᵀ P x|², as tensors.

    With A the root of the mean of x xᵀ, and U the first r right singular vectors of W A: T = Uᵀ A
    and P = Uᵀ A⁻¹. Then both are scaled so that T W and P x are about as large in each dimension,
    and turned, so that no dimension is much larger than the others: integers lose the least.
    """
    wide = states.astype(np.float64)
    spread, basis = np.linalg.eigh(wide.T @ wide / len(wide))
    roots = np.sqrt(np.maximum(spread, spread[-1] * 1e-9))
    root, inverse = (basis * roots) @ basis.T, (basis / roots) @ basis.T
    words = rows.astype(np.float64)
    gram = root @ (words.T @ words / len(words)) @ root
    strength, directions = np.linalg.eigh(gram)
    first = directions[:, ::-1][:, :rank]  # (D, r)
    size = np.maximum(strength[::-1][:rank], strength[-1] * 1e-12) ** 0.25
    turn = np.linalg.qr(np.random.default_rng(_SEED).normal(size=(rank, rank)))[0]
    tokens = turn @ ((first.T @ root) / size[:, None])
    positions = turn @ ((first.T @ inverse) * size[:, None])
    return {
        "nvs.factors.tokens.weight": tokens.astype(np.float32),
        "nvs.factors.positions.weight": positions.astype(np.float32),
    }
