"""Translation quality: BLEU and chrF through sacreBLEU, never without the signature."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sieve.errors import InputError, require

RESAMPLES = 1000


@dataclass(frozen=True)
class Score:
    """A number and what is needed to get it again."""

    name: str
    value: float
    signature: str
    """sacreBLEU's own: references, case, tokenizer, smoothing, version."""
    interval: float | None = None
    """Half of the 95 % interval by bootstrap."""
    p_value: float | None = None
    """Of the difference to the baseline, by paired bootstrap; None for the baseline itself."""

    def __str__(self) -> str:
        return f"{self.name} {self.value:.1f} ({self.signature})"


def bleu(hypotheses: Sequence[str], references: Sequence[str], target_language: str = "") -> Score:
    """Corpus BLEU against one reference a sentence.

    Args:
        hypotheses: Detokenized translations.
        references: Detokenized references, as many.
        target_language: `zh`, `ja` and `ko` change sacreBLEU's tokenizer; others do not.
    """
    _same_number(hypotheses, references)
    sacrebleu = require("sacrebleu", "evaluate", "BLEU")
    metric = sacrebleu.BLEU(trg_lang=target_language)
    value = metric.corpus_score(list(hypotheses), [list(references)]).score
    return Score("BLEU", float(value), str(metric.get_signature()))


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """Corpus chrF (character F2) against one reference a sentence."""
    _same_number(hypotheses, references)
    sacrebleu = require("sacrebleu", "evaluate", "chrF")
    metric = sacrebleu.CHRF()
    value = metric.corpus_score(list(hypotheses), [list(references)]).score
    return Score("chrF", float(value), str(metric.get_signature()))


def sentence_chrf(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
    """Each sentence alone: its chrF."""
    _same_number(hypotheses, references)
    sacrebleu = require("sacrebleu", "evaluate", "chrF")
    metric = sacrebleu.CHRF()
    pairs = zip(hypotheses, references, strict=True)
    return [float(metric.sentence_score(line, [reference]).score) for line, reference in pairs]


def compared(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    target_language: str = "",
    resamples: int = RESAMPLES,
) -> dict[str, list[Score]]:
    """BLEU and chrF of each system with 95 % intervals, and against the first by paired bootstrap.

    Args:
        systems: Translations by name; the first is the baseline.
        references: One for each sentence.
        target_language: As for `bleu`.
        resamples: Of the bootstrap.
    """
    for hypotheses in systems.values():
        _same_number(hypotheses, references)
    sacrebleu = require("sacrebleu", "evaluate", "BLEU")
    significance: Any = require("sacrebleu.significance", "evaluate", "BLEU")
    metrics = {"BLEU": sacrebleu.BLEU(trg_lang=target_language), "chrF": sacrebleu.CHRF()}
    named = [(name, list(hypotheses)) for name, hypotheses in systems.items()]
    test = significance.PairedTest(named, metrics, [list(references)], "bs", resamples)
    signatures, results = test()
    scores: dict[str, list[Score]] = {name: [] for name in systems}
    for label, signature in signatures.items():
        name = "chrF" if label.startswith("chrF") else "BLEU"
        for (system, hypotheses), result in zip(named, results[label], strict=True):
            p_value = None if result.p_value is None else float(result.p_value)
            if p_value is not None and hypotheses == named[0][1]:
                p_value = 1.0  # the test calls a difference of nothing significant
            score = Score(name, float(result.score), str(signature), float(result.ci), p_value)
            scores[system].append(score)
    return scores


def _same_number(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    if len(hypotheses) != len(references):
        raise InputError(
            f"got {len(hypotheses)} translations and {len(references)} references, "
            f"expected as many of one as of the other"
        )
    if not references:
        raise InputError("got no sentences, expected at least one to measure quality")
