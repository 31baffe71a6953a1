"""The operating point of a finished model, and its dial, from development text.

λ and the weight of positives in training are one dial; users should not have to know where it
stands. Development data show at which log-odds shortlists have the wanted size, and all biases
are moved by the same amount so that these log-odds belong to `threshold`. No other
weight changes, so translations without selection stay as they are, bit for bit. What other
thresholds would do is measured in the same pass and stored with the model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.bundle.directory import Bundle, open_bundle, write_bundle
from sieve.engines.engine import Engine, Hypothesis
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.errors import ConfigError, ModelError
from sieve.evaluate.measure.recall import Recall, RecallMeter, needed_tokens
from sieve.log import logger
from sieve.selection.bonus import with_bonuses
from sieve.selection.dial import DEFAULT_FALL, DEFAULT_THRESHOLD, Dial, DialPoint
from sieve.selection.fusion import Fusion, LexiconBonus
from sieve.selection.lexicon import Lexicon
from sieve.selection.lexicon_files import own_lexicon
from sieve.selection.plan import Selector, Votes
from sieve.selection.selectors import STEEPEST, FullVocabulary, NeuralSelection, log_odds
from sieve.tokenize.vocabulary import IntArray, Specials
from sieve.train.fit_fusion import FusionTally
from sieve.translate.confidence import Confidence
from sieve.translate.load import selection_resources

BIAS = "nvs.bias"
_BATCH = 64
_STEPS = 50  # shortlist sizes tried up to the largest
_GRID = np.arange(-12.0, 12.01, 0.25, dtype=np.float32)  # log-odds of the dial, before the shift
_MOST = 99  # percentile


@dataclass(frozen=True)
class CalibrationOptions:
    """What the operating point shall be."""

    threshold: float = DEFAULT_THRESHOLD
    """λ at which the model will stand."""
    size: int = 1000
    """Mean shortlist size, at most, long sentences with their lower threshold included."""
    recall: float = 1.0
    """Share of the model's own output tokens that must be in the shortlists; if a smaller size than
    `size` reaches it, that size is taken."""
    least: int = 0
    """Minimum shortlist size, so that short sentences do not lack tokens."""
    safe: bool = True
    """Whether the model's default selection adds the safety set."""
    fall: float = DEFAULT_FALL
    """By so many log-odds lower is the threshold for each source token of a long sentence."""

    def __post_init__(self) -> None:
        if not 0.0 < self.threshold < 1.0:
            raise ConfigError(f"threshold: got {self.threshold}, expected above 0 and below 1")
        if self.size < 2:
            raise ConfigError(f"size: got {self.size}, expected at least 2 tokens (EOS is one)")
        if not 0.0 <= self.fall <= STEEPEST:
            raise ConfigError(f"fall: got {self.fall}, expected 0 to {STEEPEST:g} log-odds")
        if self.least < 0:
            raise ConfigError(f"least: got {self.least}, expected 0 tokens or more")
        if not 0.0 < self.recall <= 1.0:
            raise ConfigError(f"recall: got {self.recall}, expected above 0 and at most 1")

    def check(self, vocab_size: int) -> None:
        """Refuses shortlists as large as the vocabulary."""
        if self.size >= vocab_size:
            raise ModelError(
                f"shortlists of {self.size} of {vocab_size} tokens select nothing; "
                "choose a smaller size"
            )


@dataclass(frozen=True)
class Calibration:
    """Where a model stands after its biases are shifted."""

    options: CalibrationOptions
    shift: float
    own: Recall
    """Of the tokens that the model itself writes without selection; `least` not counted."""
    dial: Dial
    """What every threshold does after the shift."""
    confidence: Confidence
    """Fitted at the operating point."""
    fusion: Fusion | None = None
    """What a lexicon adds to the head, if all of this is of both together."""


def calibrate(
    engine: Engine[Any],
    src_ids: Sequence[IntArray],
    options: CalibrationOptions,
    progress: Callable[[int], None] = lambda done: None,
    lexicon: Lexicon | None = None,
) -> Calibration:
    """Finds the shift of the biases for an operating point, and what other thresholds would do.

    Args:
        engine: Of the model to calibrate.
        src_ids: Development sentences, with EOS.
        options: The operating point.
        progress: Called with the number of sentences of each batch, twice for each.
        lexicon: Whose evidence is added to the head's, once it is learnt how much that is.
    """
    if not src_ids:
        raise ConfigError("no development sentences to calibrate on")
    options.check(engine.vocab_size)
    batches, written = _batches(src_ids), []
    for batch in batches:
        written.append([best.tokens for best in _best(engine, batch, FullVocabulary())])
        progress(len(batch))
    evidence = None if lexicon is None else _learnt(engine, batches, written, lexicon)
    point, dial = _measured(engine, options, batches, written, evidence)
    assert point.threshold is not None
    shift = log_odds(options.threshold) - log_odds(point.threshold)
    selection = NeuralSelection(point.threshold, options.least, evidence, fall=options.fall)
    restricted, same = [], []
    for batch, texts in zip(batches, written, strict=True):
        best = _best(engine, batch, selection)
        restricted += best
        same += [hypothesis.tokens == text for hypothesis, text in zip(best, texts, strict=True)]
        progress(len(batch))
    confidence = Confidence.fit(restricted, same)
    fusion = None if evidence is None else evidence.fusion
    return Calibration(options, shift, point, dial.shifted(shift), confidence, fusion)


def calibrate_as(before: Bundle, engine: NativeEngine, src_ids: Sequence[IntArray]) -> Calibration:
    """The calibration of a model that was changed: sets as large as they were.

    Args:
        before: The model before it was changed.
        engine: Of the model now.
        src_ids: Development sentences, with EOS.
    """
    resources = selection_resources(before)
    threshold = resources.need_threshold()
    fall = resources.fall
    size = round(mean_size(NativeEngine.open(before), src_ids, threshold, fall))
    options = CalibrationOptions(
        threshold=threshold,
        size=max(2, min(size, engine.vocab_size - 1)),
        least=resources.least,
        safe=resources.safe,
        fall=fall,
    )
    logger.info("calibrating on %d sentences", len(src_ids))
    fused = "fusion" in before.config["selection"]
    lexicon = own_lexicon(before.directory) if fused else None
    return calibrate(engine, src_ids, options, lexicon=lexicon)


def _batches(src_ids: Sequence[IntArray]) -> list[list[IntArray]]:
    """Sentences of similar length together."""
    order = sorted(src_ids, key=len)
    return [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]


def _best(engine: Engine[Any], batch: Sequence[IntArray], selection: Selector) -> list[Hypothesis]:
    return [best for best, *_ in engine.translate(batch, selection, SearchOptions())]


def _learnt(
    engine: Engine[Any],
    batches: Sequence[Sequence[IntArray]],
    written: Sequence[Sequence[Sequence[int]]],
    lexicon: Lexicon,
) -> LexiconBonus:
    """How much a lexicon's evidence counts, by what the model writes."""
    tally = FusionTally(lexicon, engine.specials)
    for batch, outputs in zip(batches, written, strict=True):
        tally.add(engine.bow_logits(engine.encode(batch)), batch, outputs)
    return LexiconBonus(lexicon, tally.fit())


def _measured(
    engine: Engine[Any],
    options: CalibrationOptions,
    batches: Sequence[Sequence[IntArray]],
    written: Sequence[Sequence[Sequence[int]]],
    evidence: LexiconBonus | None,
) -> tuple[Recall, "_DialMeter"]:
    """The operating point before the shift, and what every threshold does."""
    sizes = sorted({max(2, options.size * step // _STEPS) for step in range(1, _STEPS + 1)})
    number = sum(map(len, batches))
    meter = RecallMeter(number, engine.vocab_size, (), sizes, engine.specials)
    dial = _DialMeter(min(options.least, engine.vocab_size), engine.specials)
    for batch, outputs in zip(batches, written, strict=True):
        bonuses = () if evidence is None else evidence(batch)
        logits = with_bonuses(engine.bow_logits(engine.encode(batch)), bonuses)
        falls = Votes(0.0, fall=options.fall).falls(batch)  # a lower threshold is a higher logit
        meter.add(logits + falls[:, None], outputs)
        dial.add(logits, outputs)
    points = meter.at_sizes()
    point = next((point for point in points if point.recall >= options.recall), points[-1])
    return point, dial


def mean_size(
    engine: Engine[Any], src_ids: Sequence[IntArray], threshold: float, fall: float = 0.0
) -> float:
    """Mean number of tokens that the head of a model votes for, without a minimum."""
    decision, votes = Votes(log_odds(threshold), fall=fall), 0
    for start in range(0, len(src_ids), _BATCH):
        batch = src_ids[start : start + _BATCH]
        logits = engine.bow_logits(engine.encode(batch))
        votes += int((logits > decision.cuts(batch)[:, None]).sum())
    return votes / len(src_ids)


class _DialMeter:
    """Sizes and recall of the sets at every log-odds of the grid."""

    def __init__(self, least: int, specials: Specials) -> None:
        self._least = least
        self._specials = specials
        self._sizes: list[npt.NDArray[np.int64]] = []
        self._shares: list[npt.NDArray[np.float64]] = []

    def add(self, logits: npt.NDArray[np.floating[Any]], outputs: Sequence[Sequence[int]]) -> None:
        for row, output in zip(logits, outputs, strict=True):
            ordered = np.sort(row)
            above = len(row) - np.searchsorted(ordered, _GRID, side="right")
            self._sizes.append(np.maximum(above, self._least))
            floor = ordered[-self._least] if self._least else np.inf
            needed = row[needed_tokens(output, self._specials)]
            if len(needed):
                cuts = np.minimum(_GRID, np.nextafter(floor, np.float32(-np.inf)))
                self._shares.append((needed[:, None] > cuts).mean(axis=0))

    def shifted(self, shift: float) -> Dial:
        sizes = np.array(self._sizes)
        recalls = np.mean(self._shares, axis=0) if self._shares else np.ones(len(_GRID))
        most = np.percentile(sizes, _MOST, axis=0)
        columns = zip(_GRID + shift, recalls, sizes.mean(axis=0), most, strict=True)
        points = [DialPoint(*map(float, values)) for values in columns]
        distinct = {point.mean_words: point for point in points}  # of equal sets the highest λ
        return Dial(len(sizes), tuple(distinct.values())[::-1])


def store(model: Path, output: Path, calibration: Calibration) -> None:
    """Writes a model directory again, in any form, at its operating point and with its dial.

    Args:
        model: The directory to read.
        output: The directory to make; may be the same.
        calibration: What `calibrate` found for it.
    """
    bundle = open_bundle(model)
    tensors = bundle.tensors()
    if BIAS not in tensors:
        raise ModelError(f"{model}: has no NVS head whose bias could be shifted")
    sections = bundle.sections()
    apply(calibration, tensors, sections)
    write_bundle(output, sections, tensors, bundle.tokenizers(), bundle.optional_files())


def apply(
    calibration: Calibration, tensors: dict[str, npt.NDArray[Any]], sections: dict[str, Any]
) -> None:
    """Changes a model's tensors and the sections of its configuration."""
    bias = tensors[BIAS]
    tensors[BIAS] = (bias.astype(np.float64) + calibration.shift).astype(bias.dtype)
    sections["selection"] = {
        "threshold": calibration.options.threshold,
        "least": calibration.options.least,
        "fall": calibration.options.fall,
        "safe": calibration.options.safe,
        "calibration": calibration.dial.as_json(),
        "confidence": [round(weight, 5) for weight in calibration.confidence.weights],
    }
    if calibration.fusion is not None:
        sections["selection"]["fusion"] = calibration.fusion.as_json()
