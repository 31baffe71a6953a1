"""Translation quality: BLEU and chrF through sacreBLEU, never without the signature."""

from collections.abc import Sequence
from dataclasses import dataclass

from sieve.errors import InputError, require


@dataclass(frozen=True)
class Score:
    """A number and what is needed to get it again."""

    name: str
    value: float
    signature: str
    """sacreBLEU's own: references, case, tokenizer, smoothing, version."""

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


def _same_number(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    if len(hypotheses) != len(references):
        raise InputError(
            f"got {len(hypotheses)} translations and {len(references)} references, "
            f"expected as many of one as of the other"
        )
    if not references:
        raise InputError("got no sentences, expected at least one to measure quality")
