"""What selection is asked for: sources, and the tokens that each needs in one or more scopes.

The tables, the curves and the idiom sets ask the same questions of different sentences. Sources
are encoded once, in batches, whatever number of selectors then looks at them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sieve.engines.engine import Engine, FloatArray
from sieve.evaluate.measure.recall import Recall, needed_tokens, recall_of_sets
from sieve.selection.bonus import Bonus, among_candidates, with_bonuses
from sieve.selection.plan import Cuts, Selector
from sieve.selection.shortlist import Shortlist, ShortlistArray, shortlists_above
from sieve.tokenize.tokenizer import Tokenizers, source_ids
from sieve.tokenize.vocabulary import IntArray, Specials

BATCH = 64
"""Sentences whose logits are held at a time."""


@dataclass(frozen=True, eq=False)
class Probe:
    """Sources, and the unique tokens each needs by scope (`sentence`, `idiom`, …)."""

    name: str
    src_ids: Sequence[IntArray]
    needed: Mapping[str, Sequence[IntArray]]
    weights: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """How much each sentence counts in a scope's recall; where none are given, the same."""

    @classmethod
    def of_text(
        cls,
        name: str,
        tokenizers: Tokenizers,
        sources: Sequence[str],
        targets: Mapping[str, Sequence[str]],
    ) -> "Probe":
        """Tokenizes sources and, for each scope, the texts that must be reachable."""
        src_ids = source_ids(tokenizers.source, sources)
        special = tokenizers.target.specials
        needed = {
            scope: [needed_tokens(ids, special) for ids in tokenizers.target.encode(list(texts))]
            for scope, texts in targets.items()
        }
        return cls(name, src_ids, needed)

    def counted(self, scope: str) -> int:
        """Sentences that need something: the others do not count for recall."""
        return sum(1 for tokens in self.needed[scope] if len(tokens))

    def tokens(self, scope: str) -> int:
        """Tokens to find in all."""
        return sum(map(len, self.needed[scope]))

    def weights_of(self, scope: str, rows: Iterable[int]) -> list[float]:
        """How much some of the sentences count."""
        weights = self.weights.get(scope)
        return [1.0 if weights is None else weights[row] for row in rows]


@dataclass(frozen=True, eq=False)
class HeadAnswers:
    """Encoded sentences as selectors see them; the head is asked at most once."""

    engine: Engine[Any]
    src_ids: Sequence[IntArray]

    @property
    def vocab_size(self) -> int:
        """Number of output tokens."""
        return self.engine.vocab_size

    @property
    def specials(self) -> Specials:
        """The model's special ids."""
        return self.engine.specials

    @cached_property
    def logits(self) -> FloatArray:
        """Max-pooled logits of the head (B, V)."""
        return self.engine.bow_logits(self.engine.encode(self.src_ids))

    def tokens_above(
        self,
        cuts: Cuts,
        least: int = 0,
        bonuses: Sequence[Bonus] = (),
        candidates: Sequence[ShortlistArray] = (),
    ) -> list[Shortlist]:
        """See `sieve.selection.plan.Source`."""
        logits = among_candidates(with_bonuses(self.logits, bonuses), candidates)
        return shortlists_above(logits, cuts, least, self.specials.eos)


def batches(
    engine: Engine[Any], src_ids: Sequence[IntArray]
) -> Iterator[tuple[list[int], HeadAnswers]]:
    """Sentences of similar length together: their rows, and what selectors look at."""
    order = sorted(range(len(src_ids)), key=lambda row: len(src_ids[row]))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        yield rows, HeadAnswers(engine, [src_ids[row] for row in rows])


def recalls(
    engine: Engine[Any], probe: Probe, selectors: Mapping[str, Selector]
) -> dict[str, dict[str, Recall]]:
    """Recall and mean shortlist size of each selector, by scope."""
    number = len(probe.src_ids)
    shortlists_by_name: dict[str, dict[int, Shortlist]] = {name: {} for name in selectors}
    for rows, votes in batches(engine, probe.src_ids):
        for name, selector in selectors.items():
            shortlists_by_name[name].update(zip(rows, selector.plan().select(votes), strict=True))
    return {
        name: {
            scope: recall_of_sets(
                (shortlists[row].ids for row in range(number)),
                needed,
                engine.vocab_size,
                probe.weights_of(scope, range(number)),
                engine.specials,
            )
            for scope, needed in probe.needed.items()
        }
        for name, shortlists in shortlists_by_name.items()
    }
