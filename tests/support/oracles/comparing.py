"""Holds a peer's answers against Sieve's: the same tokens, the same scores, the same quality.

Everything is in ids, so that a difference is the model's and the search's, not the tokenizer's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from sieve.engines.engine import Hypothesis
from sieve.engines.options import SearchOptions
from sieve.selection.selectors import FullVocabulary
from sieve.tokenize.tokenizer import Tokenizer
from sieve.tokenize.vocabulary import IntArray
from sieve.translate.load import load
from sieve.translate.translator import Translator

Ids = Sequence[int]


class Ours:
    """An imported model in one of our engines, asked without repairs and without selection."""

    def __init__(
        self,
        directory: Path,
        engine: Literal["native", "torch"] = "native",
        precision: Literal["float32"] | None = None,
    ) -> None:
        self.translator: Translator = load(directory, engine=engine, precision=precision)

    def sources(self, lines: Sequence[str]) -> list[IntArray]:
        """What the encoder reads."""
        specials = self.translator.engine.specials
        return [*map(specials.source_ids, self.translator.tokenizers.source.encode(lines))]

    def translate(
        self, lines: Sequence[str], beam: int = 1, stop: Literal["exact", "first"] = "exact"
    ) -> list[Hypothesis]:
        """The best translation of each line."""
        options = SearchOptions(beam_size=beam, stop=stop)
        results = self.translator.engine.translate(self.sources(lines), FullVocabulary(), options)
        return [result[0] for result in results]

    def texts(self, hypotheses: Sequence[Hypothesis]) -> list[str]:
        """What they say."""
        return self.translator.tokenizers.target.decode([one.tokens for one in hypotheses])

    def score(self, lines: Sequence[str], targets: Sequence[Ids]) -> list[tuple[float, ...]]:
        """Log-probability of each token of given translations, EOS included."""
        sources = self.sources(lines)
        scored = self.translator.engine.score(sources, targets, FullVocabulary())
        return [one.token_scores for one in scored]

    def forced_agreement(self, lines: Sequence[str], targets: Sequence[Ids]) -> float:
        """Share of a peer's tokens, EOS included, that we would write behind the same beginning.

        A greedy translation agrees with every token up to the first that differs; the next begins
        with the peer's tokens up to there and that one.
        """
        engine, options = self.translator.engine, SearchOptions(beam_size=1)
        open_rows = {row: (source, 0) for row, source in enumerate(self.sources(lines))}
        different = 0
        while open_rows:
            rows = list(open_rows)
            prefixes = [targets[row][: open_rows[row][1]] for row in rows]
            results = engine.translate(
                [open_rows[row][0] for row in rows], FullVocabulary(), options, prefixes
            )
            for row, (hypothesis,) in zip(rows, results, strict=True):
                place = first_difference(hypothesis, targets[row])
                source, _ = open_rows.pop(row)
                if place is not None:
                    different += 1
                    if place < len(targets[row]):  # else what differs is the end
                        open_rows[row] = (source, place + 1)
        total = sum(len(target) + 1 for target in targets)
        return 1 - different / total


def first_difference(hypothesis: Hypothesis, target: Ids) -> int | None:
    """Where a translation leaves a peer's; its end counts as a token."""
    for place, (mine, theirs) in enumerate(zip(hypothesis.tokens, target, strict=False)):
        if mine != theirs:
            return place
    short = min(len(hypothesis.tokens), len(target))
    same = len(hypothesis.tokens) == len(target) and hypothesis.finished
    return None if same else short


@dataclass(frozen=True)
class Scores:
    """Log-probabilities of the same tokens, theirs and ours."""

    difference: float
    """Mean absolute difference of a token."""
    largest: float
    theirs: float
    """Mean of a token."""
    ours: float

    @classmethod
    def of(cls, theirs: Sequence[Sequence[float]], ours: Sequence[Sequence[float]]) -> "Scores":
        """Of sentences of the same lengths."""
        pairs = zip(theirs, ours, strict=True)
        assert all(len(a) == len(b) for a, b in pairs), "not the same tokens"
        left, right = _flat(theirs), _flat(ours)
        apart = np.abs(left - right)
        return cls(*map(float, (apart.mean(), apart.max(), left.mean(), right.mean())))


def _flat(rows: Sequence[Sequence[float]]) -> npt.NDArray[np.float64]:
    return np.array([value for row in rows for value in row], np.float64)


def identical(theirs: Sequence[Ids], ours: Sequence[Hypothesis]) -> float:
    """Share of translations that are the same tokens."""
    same = [list(a) == list(b.tokens) for a, b in zip(theirs, ours, strict=True)]
    return sum(same) / len(same)


def quality(texts: Sequence[str], references: Sequence[str]) -> tuple[float, float]:
    """BLEU and chrF of sacreBLEU."""
    import sacrebleu

    bleu = sacrebleu.corpus_bleu(list(texts), [list(references)]).score
    return float(bleu), float(sacrebleu.corpus_chrf(list(texts), [list(references)]).score)


def ids_of_texts(tokens: Sequence[str], tokenizer: Tokenizer) -> list[int]:
    """Ids of tokens that are known by the text they stand for; the first one's space is not shown.

    The last one is the end, which has no text.
    """
    ids: list[int] = []
    for place, token in enumerate(tokens[:-1]):
        piece = token.replace(" ", "▁")
        choices = [f"▁{piece}", piece] if place == 0 else [piece]
        known = [index for choice in choices if (index := tokenizer.piece_id(choice)) is not None]
        if not known:
            raise ValueError(f"no piece for {token!r}")
        ids.append(known[0])
    return ids


def sums_of_words(
    words: Sequence[tuple[int, float]], scores: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Sums of log-probabilities by word, theirs and ours; the end, which they leave out, is not in.

    Args:
        words: Tokens of each word, in the last one the end, and their mean score without the end.
        scores: Our score of each token.
    """
    theirs, ours, place = [], [], 0
    for number, (count, mean) in enumerate(words):
        size = count - (number == len(words) - 1)
        theirs.append(size * mean)
        ours.append(sum(scores[place : place + size]))
        place += size
    return theirs, ours
