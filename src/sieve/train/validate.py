"""Validation: perplexity, the selection curve and, on request, BLEU on held-out text.

Never moves the training: no random numbers, no gradients, the model back in its mode afterwards.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch

from sieve.data.batching import make_batch, sorted_batches
from sieve.data.pair_sources import MemoryPairs, Mixture
from sieve.data.reading import read_lines
from sieve.engines.options import SearchOptions
from sieve.engines.torch.torch_engine import Precision, TorchEngine
from sieve.errors import InputError
from sieve.evaluate.measure.quality import Score, bleu
from sieve.evaluate.measure.recall import Recall, RecallMeter
from sieve.model.transformer import TranslationModel
from sieve.selection.selectors import FullVocabulary
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import OWN
from sieve.train.update.loader import Unit, unit_from
from sieve.train.update.loss import label_smoothed_cross_entropy
from sieve.train.update.precision import DTYPES

_BATCH_TOKENS = 8192


@dataclass(frozen=True)
class ValidationText:
    """Held-out text: its lines and their ids."""

    tgt_lines: list[str]
    pairs: MemoryPairs
    tokenizers: Tokenizers
    target_language: str


@dataclass(frozen=True)
class Validation:
    """What one validation found."""

    perplexity: float | None
    """exp of the mean negative log-likelihood of the target tokens with EOS, not smoothed."""
    thresholds: tuple[Recall, ...] = ()
    sizes: tuple[tuple[int, Recall], ...] = ()
    """(requested mean shortlist size, its recall)"""
    bleu: Score | None = None

    @property
    def score(self) -> float:
        """What checkpoints are ranked by, lower is better: perplexity, else what recall misses."""
        if self.perplexity is not None:
            return self.perplexity
        return 1.0 - self.sizes[0][1].recall if self.sizes else 0.0

    def plain(self) -> dict[str, Any]:
        """As JSON-ready values."""
        values: dict[str, Any] = {}
        if self.perplexity is not None:
            values["perplexity"] = self.perplexity
        if self.thresholds:
            values["vocab_size"] = self.thresholds[0].vocab_size
            values["nvs_at_threshold"] = {str(r.threshold): _point(r) for r in self.thresholds}
            values["nvs_at_size"] = {str(size): _point(r) for size, r in self.sizes}
        if self.bleu is not None:
            values["bleu"] = self.bleu.value
            values["bleu_signature"] = self.bleu.signature
        return values

    def __str__(self) -> str:
        parts = [] if self.perplexity is None else [f"perplexity {self.perplexity:.3f}"]
        curve = [recall for _, recall in self.sizes] or self.thresholds
        parts += [f"recall {recall}" for recall in curve]
        parts += [] if self.bleu is None else [f"BLEU {self.bleu.value:.1f}"]
        return ", ".join(parts)


def read_validation(
    src: Path, tgt: Path, tokenizers: Tokenizers, target_language: str
) -> ValidationText:
    """Reads and tokenizes validation text."""
    src_lines, tgt_lines = list(read_lines(src)), list(read_lines(tgt))
    if len(src_lines) != len(tgt_lines):
        raise InputError(
            f"{src} has {len(src_lines)} lines and {tgt} has {len(tgt_lines)}, "
            "expected as many validation sources as targets"
        )
    if not src_lines:
        raise InputError(f"{src}: has no lines, expected validation text")
    src_ids, tgt_ids = tokenizers.source.encode(src_lines), tokenizers.target.encode(tgt_lines)
    return ValidationText(tgt_lines, MemoryPairs(src_ids, tgt_ids), tokenizers, target_language)


def validate(
    model: TranslationModel,
    text: ValidationText,
    precision: str = "float32",
    *,
    head_only: bool = False,
    with_bleu: bool = False,
) -> Validation:
    """Measures a model on held-out text.

    Args:
        model: On any device, in any mode.
        text: What to measure on.
        precision: float32, bfloat16 or float16.
        head_only: Leave the decoder out: no perplexity.
        with_bleu: Also translate, greedily, and score.
    """
    device = next(model.parameters()).device
    with _evaluating(model, precision):
        V = model.config.tgt_vocab_size
        meter = None
        if model.nvs is not None:
            sizes = [size for size in (500, 1000, 2000) if size < V]
            meter = RecallMeter(text.pairs.num_pairs, V, sizes=sizes)
        total = torch.zeros((), dtype=torch.float64, device=device)
        mixture = Mixture([text.pairs])
        for pair_ids in sorted_batches(text.pairs, _BATCH_TOKENS):
            batch = make_batch(mixture, pair_ids)
            total += _measure(model, unit_from(batch).to(device), meter, head_only)
        tokens = int(text.pairs.tgt_lengths.sum()) + text.pairs.num_pairs
        score = _bleu(model, text, precision) if with_bleu and not head_only else None
    return Validation(
        perplexity=None if head_only else _exp(float(total) / tokens),
        thresholds=tuple(meter.at_thresholds()) if meter else (),
        sizes=tuple(zip(meter.sizes, meter.at_sizes(), strict=True)) if meter else (),
        bleu=score,
    )


def _measure(
    model: TranslationModel, unit: Unit, meter: RecallMeter | None, head_only: bool
) -> torch.Tensor:
    """Summed negative log-likelihood of a batch; its selection logits go to the meter."""
    if head_only:
        memory, src_mask = model.encode(unit.src_ids)
        loss = torch.zeros((), device=memory.device)
    else:
        outputs = model(unit.src_ids, unit.tgt_in)
        memory, src_mask = outputs.memory, outputs.src_mask
        states = outputs.states.flatten(0, 1).index_select(0, unit.real)  # (N, D)
        loss = label_smoothed_cross_entropy(model.output(states), unit.targets, 0.0)
    if meter is not None:
        logits = model.bow_logits(memory, src_mask).float().cpu().numpy()
        meter.add(logits, list(unit.tgt_out.cpu().numpy()))
    return loss


def _bleu(model: TranslationModel, text: ValidationText, precision: str) -> Score:
    engine = TorchEngine(model, cast(Precision, precision), graphs=False)
    options = SearchOptions(beam_size=1)
    tokens: list[tuple[int, ...]] = [()] * text.pairs.num_pairs
    for pair_ids in sorted_batches(text.pairs, _BATCH_TOKENS):
        sources, _ = text.pairs.pairs(pair_ids)
        src_ids = [OWN.source_ids(sources[row]) for row in range(len(pair_ids))]
        ranked = engine.translate(src_ids, FullVocabulary(), options)
        for pair, hypotheses in zip(pair_ids, ranked, strict=True):
            tokens[pair] = hypotheses[0].tokens
    translations = text.tokenizers.target.decode(tokens)
    return bleu(translations, text.tgt_lines, text.target_language)


@contextmanager
def _evaluating(model: TranslationModel, precision: str) -> Iterator[None]:
    """Evaluation mode, no gradients, nothing compiled anew; the old mode afterwards."""
    modes = {module: module.training for module in model.modules()}
    device, dtype = next(model.parameters()).device.type, DTYPES[precision]
    model.eval()
    try:
        with (
            torch.no_grad(),
            torch.compiler.set_stance("force_eager"),
            torch.autocast(device, dtype=dtype, enabled=dtype is not None),
        ):
            yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def _point(recall: Recall) -> dict[str, float | None]:
    return {"recall": recall.recall, "size": recall.mean_size, "threshold": recall.threshold}


def _exp(value: float) -> float:
    return math.exp(value) if value < 700.0 else math.inf
